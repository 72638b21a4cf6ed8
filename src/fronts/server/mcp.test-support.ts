/** A client of ralph's MCP server, over the handler that the web server mounts. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import type { Context } from '../../operations/operation.ts'
import { openMcp } from './mcp-http.ts'

/** `legacy` speaks the 2025 protocol, `auto` the newest that both know. */
export type Era = 'legacy' | 'auto'

export type Called = { isError: boolean; text: string; data: Record<string, unknown>; links: string[] }

export async function connect(context: Context, era: Era = 'auto', capabilities = {}): Promise<Client> {
  const handler = openMcp(context)
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: era }, capabilities })
  const fetch = (url: string | URL, init?: RequestInit) =>
    handler.fetch(new Request(url, init), { caller: () => undefined })
  await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch }))
  onTestFinished(async () => {
    await client.close()
    await handler.close()
  })
  return client
}

export async function use(client: Client, name: string, input: object = {}): Promise<Called> {
  const { content, isError, structuredContent } = await client.callTool({ name, arguments: { ...input } })
  const [first] = content
  return {
    isError: isError === true,
    text: first?.type === 'text' ? first.text : '',
    data: (structuredContent ?? {}) as Record<string, unknown>,
    links: content.flatMap((block) => (block.type === 'resource_link' ? [block.uri] : [])),
  }
}
