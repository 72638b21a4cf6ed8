/** What a tool answers: its output as data and as the same text, links to what it is about, or what a person can fix. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import { isRalphError } from '../../error.ts'
import { given } from '../../request/given.ts'
import type { Link } from './mcp-tool.ts'

export function toResult(output: object, links: readonly Link[]): CallToolResult {
  return {
    structuredContent: output as Record<string, unknown>,
    // Several clients pass only the text on to their model.
    content: [
      { type: 'text', text: JSON.stringify(output) },
      ...links.map(({ uri, name }) => ({ type: 'resource_link' as const, uri, name })),
    ],
  }
}

/** A bug is not explained to a model: it goes to whoever runs the server. */
export function toFailure(cause: unknown, tellBug: (cause: unknown) => void): CallToolResult {
  if (!isRalphError(cause)) tellBug(cause)
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error: errorOf(cause) }) }] }
}

/** As over REST, but for `help`: that names paths, which no model can ask for. */
function errorOf(cause: unknown): { code: string; message: string; field?: string } {
  if (!isRalphError(cause)) return { code: 'bug', message: 'This is a bug in ralph. Its log says more.' }
  const { code, message, field } = cause
  return { code, message, ...given({ field }) }
}
