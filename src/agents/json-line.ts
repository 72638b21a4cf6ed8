/** One line of an agent that prints JSON: an object, or nothing for a line that is none. */

export function parseJsonLine(line: string): Record<string, unknown> | undefined {
  if (!line.trimStart().startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined // cut off, or not JSON after all
  }
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export type Json = Record<string, unknown>

/** The fields of an object; none of anything else. */
export function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}

/** A number that can be added up. */
export function amount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
