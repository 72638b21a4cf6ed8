/** The tokens of a turn by kind, added up from what an agent reports about its steps or its whole session. */
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

/** What this turn used of a session that is counted from its start. `resume`: the session it resumes. */
export function sinceResume(
  total: Usage | undefined,
  resume: { tokens?: number; usage?: Usage } | undefined,
): Usage | undefined {
  if (!total || !resume?.tokens) return total
  const { usage: before } = resume
  // Older versions stored only the sum.
  if (!before) return undefined
  return added(total, before)
}

/** As Anthropic's models count: the input excludes tokens read from and written to the cache. */
export function anthropicUsage(usage: Json): Usage {
  return {
    input: amount(usage.input_tokens) + amount(usage.cache_creation_input_tokens),
    cached: amount(usage.cache_read_input_tokens),
    output: amount(usage.output_tokens),
  }
}

/** As most others count: the input includes tokens from the cache. */
export function wholeUsage(whole: unknown, cached: unknown, output: unknown): Usage {
  return { input: Math.max(0, amount(whole) - amount(cached)), cached: amount(cached), output: amount(output) }
}

/** The increase of a count that only grows. */
export function added(total: Usage, before: Usage): Usage {
  const less = (kind: keyof Usage) => Math.max(0, total[kind] - before[kind])
  return { input: less('input'), cached: less('cached'), output: less('output') }
}
