/** How a loop obeys orders: from a person, from its caller or from ralph. */
import { reset, waitOn, withLimits } from './cooldown.ts'
import { NOBODY_AVAILABLE } from './feedback.ts'
import { outOfTime, spent } from './limits.ts'
import { ALLOW, type Loop, type Order, type Said } from './loop.ts'
import { again, halt, rest, type Wait, wake } from './moves.ts'
import { allChecks } from './stages.ts'
import { answering } from './tally.ts'
import { touchedPaths, trialsOf, withAllowed } from './trials.ts'

/** `done` is for `step` to judge, like an agent's claim. */
export function obey(
  loop: Loop,
  order: Exclude<Order, { kind: 'done' }>,
  { by, at }: { by: string; at: number },
): Loop {
  const { spec, tally, next } = loop
  switch (order.kind) {
    case 'cancel':
      return halt(loop, {
        reason: 'cancelled',
        sentence: cancelSentence(order, by),
        ...(order.rejected ? { rejected: true } : {}),
      })
    case 'pause':
      if (next.kind === 'wait' && next.why === 'paused') return loop
      return {
        ...loop,
        tally: { ...rest(tally, at), held: next },
        next: { kind: 'wait', why: 'paused', ...(order.why ? { question: order.why } : {}) },
      }
    case 'resume':
      return next.kind === 'wait' ? resume(loop, next, at) : loop
    case 'say': {
      const { kind: _, ...words } = order
      const said: Said = { by: by === 'ralph' ? 'ralph' : 'person', ...words }
      const withWords = { ...loop, tally: { ...tally, said: [...tally.said, said] } }
      if (next.kind === 'turn') return again(withWords, at)
      return next.kind === 'wait' && next.why === 'person' ? answered(withWords, at) : withWords
    }
    case 'out-of-time':
      return halt(loop, outOfTime(spec.limits.minutes))
    case 'rested':
      // One fact: being killed between a pause and its end would leave a loop that seems to wait for a person.
      return obey(obey(loop, { kind: 'pause' }, { by, at: order.since }), { kind: 'resume' }, { by, at })
    case 'edit': {
      const { kind: _, ...edited } = order
      return { ...loop, spec: { ...spec, ...edited } }
    }
    case 'limits':
    case 'extend': {
      const limited = withLimits(loop, order.limits)
      if (next.kind === 'turn') return again(limited, at)
      return next.kind === 'wait' ? waitOn(limited, next, at) : limited
    }
    case 'allow':
      return next.kind === 'wait' && next.about === ALLOW ? allow(loop, order.paths, { by, at }) : loop
    case 'dropped':
      return loop
  }
}

function cancelSentence({ rejected }: Extract<Order, { kind: 'cancel' }>, by: string): string {
  if (typeof rejected !== 'object') return `Cancelled by ${by}.`
  const who = by === 'you' ? 'You' : by
  return `${who} rejected it${rejected.why ? `: ${rejected.why}` : ''}.`
}

/** A person accepts changed means of proof; the experiments run again with them. */
function allow(loop: Loop, paths: readonly string[], { by, at }: { by: string; at: number }): Loop {
  const asked = touchedPaths(loop.tally)
  const named = paths.length > 0 ? asked.filter((path) => paths.includes(path)) : asked
  const { sealed: _, ...trials } = trialsOf(loop.tally)
  const allowed = withAllowed(loop.tally, named, by)
  return checkAgain({ ...loop, tally: { ...wake(loop.tally, at), allowed, trials } })
}

/** The files may have changed in the meantime; trials on the same files still count. */
function checkAgain(loop: Loop): Loop {
  const { spec, tally } = loop
  const because = tally.claim.kind !== 'none' ? 'claim' : spec.until ? 'until' : 'last-turn'
  return { ...loop, next: { kind: 'check', checks: allChecks(spec), because } }
}

/**
 * Continues what a pause interrupted; retries a rate-limited agent at once; closes an open breaker; continues without
 * an answer if one was awaited.
 */
function resume(loop: Loop, { why, about }: Wait, at: number): Loop {
  const { held, ...counts } = loop.tally
  const tally = answering(counts) // a person who resumes wants it tried, however long it has failed
  if (why === 'person') {
    const said: Said[] = about === ALLOW ? tally.said : [...tally.said, { by: 'ralph', words: NOBODY_AVAILABLE }]
    return answered({ ...loop, tally: { ...tally, said } }, at)
  }
  if (why === 'cooldown') return reset(loop, at)
  // Its driver starts it, with the files as they are then.
  if (why === 'queued') return loop
  if (why !== 'paused' || !held) return again({ ...loop, tally: answering(loop.tally) }, at)
  if (held.kind === 'wait' && held.why === 'person')
    return tally.said.length > 0 ? answered({ ...loop, tally }, at) : { ...loop, tally, next: held }
  const awake = { ...loop, tally: wake(tally, at), next: held }
  if (held.kind === 'wait') return waitOn(awake, held, at)
  if (held.kind === 'prove') return checkAgain(awake)
  return held.kind === 'turn' ? again(awake, at) : awake
}

/** A person spoke: the counts that made the loop ask are reset. */
function answered(loop: Loop, at: number): Loop {
  const { retry: _, ...counts } = loop.tally
  const feedback = counts.feedback.filter((words) => words !== NOBODY_AVAILABLE)
  const extra = counts.extra + (loop.spec.once ? 1 : 0)
  const tally = { ...wake(counts, at), feedback, extra, asked: 0, denied: 0, stalled: 0 }
  const stop = spent({ ...loop, tally }, at)
  return stop ? halt({ ...loop, tally }, stop) : again({ ...loop, tally }, at)
}
