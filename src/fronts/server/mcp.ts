/** An MCP server built from the table of operations: one per connection, or per request over HTTP. */
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'
import { RalphError } from '../../error.ts'
import type { Context } from '../../operations/operation.ts'
import { offerPrompts } from './mcp-prompts.ts'
import { offerResources } from './mcp-resources.ts'
import { toFailure, toResult } from './mcp-result.ts'
import type { McpTool } from './mcp-tool.ts'

/** What a client gets. */
export type Offer = {
  tools: readonly McpTool[]
  instructions: string
  version: string
  /** With resources and prompts. `told`: the client is also notified when resources change. */
  resources?: 'told' | 'untold'
}

/** The caller connects it. */
export function buildMcp(context: Context, { tools, instructions, version, resources }: Offer): Server {
  const hears = resources === 'told' ? { subscribe: true, listChanged: true } : {}
  const capabilities = { tools: {}, ...(resources ? { resources: hears, prompts: {} } : {}) }
  const server = new Server({ name: 'ralph', title: 'ralph', version }, { capabilities, instructions })
  if (resources) {
    offerResources(server, context)
    offerPrompts(server)
  }
  server.setRequestHandler('tools/list', () => ({ tools: listTools(tools) }))
  server.setRequestHandler('tools/call', async ({ params }, asked) => {
    const tool = tools.find(({ name }) => name === params.name)
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: "${params.name}".`)
    const canAsk = elicits(server, asked)
    return callTool(hearing(context, asked), tool, { input: params.arguments ?? {}, asked, canAsk })
  })
  return server
}

/** As clients see them. */
export function listTools(tools: readonly McpTool[]): Tool[] {
  return tools.map(({ name, title, description, inputSchema, outputSchema, annotations }) => ({
    name,
    title,
    description,
    inputSchema: inputSchema as { type: 'object' }, // as every tool's is
    outputSchema: outputSchema as { type: 'object' },
    annotations,
  }))
}

type Asking = { input: Record<string, unknown>; asked: ServerContext; canAsk: boolean }

async function callTool(
  context: Context,
  tool: McpTool,
  { input, asked, canAsk }: Asking,
): Promise<CallToolResult | InputRequiredResult> {
  try {
    const { confirm, ...rest } = input
    const given = tool.loses ? rest : input
    const loss = confirm === true ? undefined : await tool.loses?.(context, given)
    if (loss !== undefined) {
      const answer = inputResponse(asked.mcpReq.inputResponses, 'confirm')
      if (answer.kind !== 'elicit' && canAsk) return askFor(loss)
      if (answer.kind !== 'elicit') throw unconfirmed(tool.name, loss)
      if (answer.action !== 'accept' || answer.content?.confirm !== true)
        throw new RalphError('declined', `${tool.name} was not confirmed; nothing was done.`)
    }
    const output = await tool.run(context, given)
    return toResult(output, tool.links?.(output) ?? [])
  } catch (cause) {
    return toFailure(cause, (bug) => context.note(String(bug instanceof Error ? bug.stack : bug)))
  }
}

function askFor(loss: string): InputRequiredResult {
  return inputRequired({
    inputRequests: {
      confirm: inputRequired.elicit({
        message: loss,
        requestedSchema: {
          type: 'object',
          properties: { confirm: { type: 'boolean', title: 'Go ahead' } },
          required: ['confirm'],
        },
      }),
    },
  })
}

function unconfirmed(tool: string, loss: string): RalphError {
  return new RalphError('unconfirmed', `${loss} To go ahead, call ${tool} again with confirm: true.`)
}

/** Whether the client can show its user a form. In the older protocol a single-request server does not know. */
function elicits(server: Server, { mcpReq }: ServerContext): boolean {
  const declared = mcpReq.envelope as Record<string, Pick<ClientCapabilities, 'elicitation'> | undefined> | undefined
  const { elicitation } = declared?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {}
  if (elicitation === undefined) return false
  return elicitation.form !== undefined || elicitation.url === undefined // a client that names neither supports forms
}

/** Operations are notified when the client gives up, and their progress reaches a client that wants it. */
function hearing(context: Context, { mcpReq }: ServerContext): Context {
  const token = mcpReq._meta?.progressToken
  let told = 0
  const progress = (message: string) => {
    if (token === undefined) return
    const params = { progressToken: token, progress: ++told, message }
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {}) // the client has gone
  }
  // Not spread: its folder is a getter, looked up on each use.
  const same = Object.defineProperties({}, Object.getOwnPropertyDescriptors(context)) as Context
  return Object.assign(same, { progress, signal: mcpReq.signal, by: 'agent' })
}
