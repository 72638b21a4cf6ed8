/** A tool's result: its output as data and as text, links to what it is about, or an error that can be fixed. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import { isRalphError } from '../../error.ts'
import { given } from '../../request/given.ts'
import type { Link } from './mcp-tool.ts'

export function toResult(output: object, links: readonly Link[]): CallToolResult {
  return {
    structuredContent: output as Record<string, unknown>,
    // Several clients pass only the text to their model.
    content: [
      { type: 'text', text: JSON.stringify(output) },
      ...links.map(({ uri, name }) => ({ type: 'resource_link' as const, uri, name })),
    ],
  }
}

/** A bug is not explained to a model: the details go to whoever runs the server. */
export function toFailure(cause: unknown, tellBug: (cause: unknown) => void): CallToolResult {
  if (!isRalphError(cause)) tellBug(cause)
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error: errorOf(cause) }) }] }
}

/** As over REST, but without `help`, which names paths that no model can request. */
function errorOf(cause: unknown): { code: string; message: string; field?: string } {
  if (!isRalphError(cause)) return { code: 'bug', message: 'This is a bug in ralph. Its log says more.' }
  const { code, message, field } = cause
  return { code, message, ...given({ field }) }
}
