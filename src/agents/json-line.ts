/** Parses the lines of an agent that prints JSON. */
import { jsonIn } from '../formats/json-file.ts'
import type { AgentEvent, Parser, Pushed } from './agent.ts'

/** Every JSON line goes to `take`; every other line is a warning, and the last ones stay in `stderr`. */
export function pushTo(seen: { stderr: string[] }, take: (event: Json) => AgentEvent[] | Pushed): Parser['push'] {
  return (line, stream) => {
    const event = stream === 'out' ? parseJsonLine(line) : undefined
    if (event) {
      const taken = take(event)
      return Array.isArray(taken) ? { events: taken } : taken
    }
    if (!line.trim()) return { events: [] }
    seen.stderr = [...seen.stderr.slice(-19), line]
    return { events: isRest(line) ? [] : [{ kind: 'warning', message: line.slice(0, 500) }] }
  }
}

/** Whether a line only continues what came before it: a stack, the inside of a value, a bracket. */
export function isRest(line: string): boolean {
  return /^\s|^[^\p{L}\p{N}]*$/u.test(line)
}

/** The object in a line, or undefined. */
export function parseJsonLine(line: string): Record<string, unknown> | undefined {
  if (!line.trimStart().startsWith('{')) return undefined
  const value = jsonIn(line) // it is cut off, or not JSON after all
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export type Json = Record<string, unknown>

/** The fields of an object; none for anything else. */
export function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}

/** A number that can be added up. */
export function amount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
