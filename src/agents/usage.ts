/** The tokens of a turn by kind, added up from what an agent tells of its steps or of its whole session. */
import type { Usage } from '../engine/loop.ts'

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
  const less = (kind: keyof Usage) => Math.max(0, total[kind] - before[kind])
  return { input: less('input'), cached: less('cached'), output: less('output') }
}
