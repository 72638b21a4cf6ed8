/** MCP over HTTP. Who may call it is decided before: Host, Origin and token are checked by the server that it is mounted in. */
import { createMcpHandler, type McpRequestContext, type McpServerFactory } from '@modelcontextprotocol/server'
import type { Caller, Context } from '../../operations/operation.ts'
import { buildMcp } from './mcp.ts'
import { changesBus } from './mcp-changes.ts'
import { wholeOffer } from './mcp-offer.ts'

/** `caller`: which process asks. */
export type Asking = { caller?: () => Caller }

export type McpOverHttp = {
  fetch(request: Request, asking?: Asking): Promise<Response>
  close(): Promise<void>
}

/** Each request is answered by a server of its own. */
export function openMcp(context: Context): McpOverHttp {
  const offer = wholeOffer(context)
  // A request of the older protocol ends with its answer: nobody could be told of changes.
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

/** What `fetch` was given comes along as what is known of the client. */
function askingOf({ authInfo }: McpRequestContext): Asking {
  return (authInfo?.extra ?? {}) as Asking
}
