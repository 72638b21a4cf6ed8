/** The tokens of a turn by kind, added up from what an agent tells of its steps or of its whole session. */
import type { Usage } from '../engine/loop.ts'
import { amount, type Json } from './json-line.ts'

export function plus(before: Usage | undefined, { input, cached, output }: Usage): Usage {
  return {
    input: (before?.input ?? 0) + input,
    cached: (before?.cached ?? 0) + cached,
    output: (before?.output ?? 0) + output,
  }
}

export function sumOf({ input, cached, output }: Usage): number {
  return input + cached + output
}

/** What this turn took of a session that is counted from its beginning. `resume`: what it goes on with. */
export function sinceResume(
  total: Usage | undefined,
  resume: { tokens?: number; usage?: Usage } | undefined,
): Usage | undefined {
  if (!total || !resume?.tokens) return total
  const { usage: before } = resume
  // An older ralph kept no more than the sum.
  if (!before) return undefined
  return added(total, before)
}

/** As Anthropic's models count: what was read from the cache, and what was written to it, is no part of the input. */
export function anthropicUsage(usage: Json): Usage {
  return {
    input: amount(usage.input_tokens) + amount(usage.cache_creation_input_tokens),
    cached: amount(usage.cache_read_input_tokens),
    output: amount(usage.output_tokens),
  }
}

/** As most others count: the input is all of it, also what came from the cache. */
export function wholeUsage(whole: unknown, cached: unknown, output: unknown): Usage {
  return { input: Math.max(0, amount(whole) - amount(cached)), cached: amount(cached), output: amount(output) }
}

/** What was added to a count that only grows. */
export function added(total: Usage, before: Usage): Usage {
  const less = (kind: keyof Usage) => Math.max(0, total[kind] - before[kind])
  return { input: less('input'), cached: less('cached'), output: less('output') }
}
