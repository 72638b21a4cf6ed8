/** The cooldown: if a driver stays alive, an open breaker waits, and then one retry decides whether the loop halts. */
import { adviceOn, halfOpen, stopped, type Trip, tripped } from './breaker.ts'
import { count, deadline, spent } from './limits.ts'
import type { Limits, Loop } from './loop.ts'
import { again, halt, type Wait, waitUntil, withFeedback } from './moves.ts'

type Cooldown = Extract<Wait, { why: 'cooldown' }>

/** The breaker opens. Without a cooldown, without room for another turn, or during the retry itself, the loop halts. */
export function trip(loop: Loop, stop: Trip, at: number): Loop {
  if (loop.tally.retry)
    return halt(loop, { ...stop, sentence: `${stopped(stop.sentence)} A retry after a cooldown did not help.` })
  return spent(loop, at) ? halt(loop, stop) : coolDown(loop, { stop, since: at })
}

function coolDown(loop: Loop, { stop, since }: Pick<Cooldown, 'stop' | 'since'>): Loop {
  const { cooldownMinutes = 0, minutes } = loop.spec.limits
  if (!(cooldownMinutes > 0)) return halt(loop, stop)
  const until = since + cooldownMinutes * 60_000
  if (minutes !== undefined && until >= deadline(minutes, loop.tally))
    return halt(loop, {
      ...stop,
      sentence: `${stopped(stop.sentence)} A retry after a cooldown of ${count(cooldownMinutes, 'minute')} would exceed the time limit of ${count(minutes, 'minute')}.`,
    })
  return { ...loop, next: { kind: 'wait', why: 'cooldown', since, until, stop } }
}

/** Continues a wait as far as the limits, which may have changed, allow. */
export function waitOn(loop: Loop, wait: Wait, at: number): Loop {
  if (wait.why === 'cooldown') return tripped(loop) ? coolDown(loop, wait) : again(loop, at)
  return wait.until === undefined ? loop : waitUntil(loop, wait.why, wait.until, at)
}

/** The cooldown is over: one turn, with the breaker half-open. */
export function retry(loop: Loop, { stop }: Cooldown, at: number): Loop {
  const over = spent(loop, at)
  if (over) return halt(loop, over)
  const { spec, tally } = withFeedback(loop, [adviceOn(stop.reason, loop.tally)])
  return again({ ...loop, tally: { ...halfOpen(tally, spec.limits), retry: { stop, since: tally.iteration } } }, at)
}

/** A retry that helped closes the breaker; the next time it opens, there is another. */
export function afterRetry(loop: Loop): Loop {
  const { retry, ...tally } = loop.tally
  if (!retry || !isOver(loop) || tripped(loop)) return loop
  // Crashes end as soon as the agent works; idle turns are still counted.
  if (!retry.moved && retry.stop.reason !== 'agent-failed') return loop
  return { ...loop, tally: { ...tally, ...(retry.stop.reason === 'same-error' ? { repeats: 0 } : {}) } }
}

/** What opened the breaker counts again after a retry that did not help. A turn that only asks decides nothing. */
export function failedRetry(loop: Loop): Trip | undefined {
  return isOver(loop) && loop.tally.ask === undefined ? loop.tally.retry?.stop : undefined
}

/** Whether the turn of the retry has been taken. */
function isOver({ tally }: Loop): boolean {
  return tally.retry !== undefined && tally.iteration > tally.retry.since
}

/** The user does not want to wait: the counts are reset, and the loop continues. */
export function reset(loop: Loop, at: number): Loop {
  const closed = { ...loop, tally: { ...loop.tally, crashes: 0, repeats: 0, testOnly: 0, stalled: 0 } }
  const over = spent(closed, at)
  return over ? halt(closed, over) : again(closed, at)
}

/** With a higher breaker limit, a retry in progress is a turn like any other. */
export function withLimits(loop: Loop, limits: Partial<Limits>): Loop {
  const { noProgress, sameError } = loop.spec.limits
  const limited = { ...loop, spec: { ...loop.spec, limits: { ...loop.spec.limits, ...limits } } }
  const { noProgress: more, sameError: moreErrors } = limited.spec.limits
  const { retry: _, ...tally } = loop.tally
  return more > noProgress || moreErrors > sameError ? { ...limited, tally } : limited
}
