/** MCP over HTTP. The server it is mounted in has already checked Host, Origin and token. */
import { createMcpHandler, type McpRequestContext, type McpServerFactory } from '@modelcontextprotocol/server'
import type { Caller, Context } from '../../operations/operation.ts'
import { buildMcp } from './mcp.ts'
import { changesBus } from './mcp-changes.ts'
import { wholeOffer } from './mcp-offer.ts'

/** `caller`: the process that makes the request. */
export type Asking = { caller?: () => Caller }

export type McpOverHttp = {
  fetch(request: Request, asking?: Asking): Promise<Response>
  close(): Promise<void>
}

/** Each request gets its own MCP server. */
export function openMcp(context: Context): McpOverHttp {
  const offer = wholeOffer(context)
  // In the older protocol a request ends with its answer, so changes cannot be sent.
  const untold = { ...offer, resources: 'untold' as const }
  const build: McpServerFactory = (asked) =>
    buildMcp({ ...context, ...askingOf(asked) }, asked.era === 'modern' ? offer : untold)
  const { fetch, close } = createMcpHandler(build, { bus: changesBus(context) })
  return {
    fetch: (request, asking = {}) =>
      fetch(request, { authInfo: { token: '', clientId: '', scopes: [], extra: asking } }),
    close,
  }
}

/** What is known about the client is passed along through `fetch`. */
function askingOf({ authInfo }: McpRequestContext): Asking {
  return (authInfo?.extra ?? {}) as Asking
}
