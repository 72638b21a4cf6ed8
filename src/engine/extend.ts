/** Resumes a loop that halted on a limit, with a new limit. */
import { withLimits } from './cooldown.ts'
import { spent } from './limits.ts'
import { type HaltReason, type Limits, type Loop, leftAt, type Tally } from './loop.ts'
import { again, stateWords, withFeedback } from './moves.ts'

/** Whether it stopped only because of a limit, so that raising the limit is enough to continue. */
export function endedOnLimit({ next }: Pick<Loop, 'next'>): boolean {
  return next.kind === 'halt' && OF_LIMITS.has(next.reason)
}

const OF_LIMITS: ReadonlySet<HaltReason> = new Set(['max-iterations', 'timeout', 'cost', 'tokens'])

/** `since`: when it ended; the time since then does not count. A loop that still has no room stays halted. */
export function extend(loop: Loop, { limits, since }: { limits: Partial<Limits>; since?: number }, at: number): Loop {
  if (!endedOnLimit(loop)) return loop
  const { restingSince = since ?? at, held: _, ...counts } = loop.tally
  const tally: Tally = {
    ...counts,
    restedMs: counts.restedMs + Math.max(0, at - restingSince),
    ...(limits.iterations === undefined ? {} : { extra: 0 }),
  }
  const extended = unceiled(withLimits({ ...loop, tally }, limits), limits)
  return spent(extended, at) ? loop : again(putBack(extended), at)
}

/** An explicit number replaces the ceiling. */
function unceiled(loop: Loop, { iterations }: Partial<Limits>): Loop {
  const { ceiling: _, ...fixed } = loop.spec.limits
  return iterations === undefined ? loop : { ...loop, spec: { ...loop.spec, limits: fixed } }
}

/** The files that the halt restored are not those that the last turn left. */
function putBack(loop: Loop): Loop {
  const to = leftAt(loop)
  if (to === undefined) return loop
  const { tree: _, ...tally } = loop.tally
  return withFeedback({ ...loop, tally }, [`The files were restored to their state ${stateWords(to)}.`])
}
