/** The MCP server of a turn, in the form that most clients read. */
import { isObject, type Json } from '../formats/json-file.ts'
import { readLooseJson } from '../formats/json-text.ts'
import type { Command, McpServer, Request } from './agent.ts'

/** The name by which an agent knows it. */
export const MCP_NAME = 'ralph'

type File = NonNullable<Command['files']>[number]

/** A file, so that the token is in no command line. `fields`: what this client needs besides. */
export function mcpFile({ mcp }: Request, fields: object = {}): File | undefined {
  if (!mcp) return undefined
  const { command, args, env } = partsOf(mcp)
  return {
    path: mcp.file('mcp.json'),
    text: JSON.stringify({ mcpServers: { [MCP_NAME]: { command, args, env, ...fields } } }),
  }
}

/** A machine's or user's settings, as text, with our server added. */
export function withServer(settings: string | undefined, key: string, server: object): string {
  const found: unknown = readLooseJson(settings ?? '')
  const theirs: Json = isObject(found) ? found : {}
  return JSON.stringify({ ...theirs, [key]: { ...(isObject(theirs[key]) ? theirs[key] : {}), [MCP_NAME]: server } })
}

export function partsOf({ command, env }: McpServer): { command: string; args: string[]; env: Record<string, string> } {
  const [program = '', ...args] = command
  return { command: program, args, env }
}
