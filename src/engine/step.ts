/** The only place that says what a loop does next. */
import { afterBaseline, afterChecks, type Checked } from './after-checks.ts'
import { diagnosis, isStalled, tripped } from './breaker.ts'
import { isAccepted } from './claim.ts'
import { afterProof, conclude } from './conclude.ts'
import { continueLoop } from './continue-loop.ts'
import { afterRetry, retry, trip } from './cooldown.ts'
import { extend } from './extend.ts'
import { feedbackFor } from './feedback.ts'
import { isOverdue, onTop, outOfTime, overBudget, spent } from './limits.ts'
import {
  ALLOW,
  ended,
  type Fact,
  type Loop,
  type Next,
  type Order,
  type Spec,
  type Tally,
  type Turn,
  turnOf,
  type Verdict,
} from './loop.ts'
import { afterRestore, again, halt, tooManyAttempts, wake, withFeedback } from './moves.ts'
import { obey } from './obey.ts'
import { withoutRest } from './roster.ts'
import { allChecks, comesTooEarly, stageClaimed, stillOpen } from './stages.ts'
import { countTurn, movedInRetry, spend } from './tally.ts'
import { wasRed } from './trials.ts'
import { standIn, waitOut } from './wait-out.ts'

/** Moves a loop by one fact. Pure and total: the caller supplies the facts, including the time. */
export function step(loop: Loop, fact: Fact): Loop {
  // Where a loop lives and what preceded this record apply to an ended loop too.
  if (fact.kind === 'adopted') return { id: loop.id, ...fact.loop }
  if (fact.kind === 'moved') return moveTo(loop, fact.to)
  if (ended(loop))
    return fact.kind === 'told' && fact.order.kind === 'extend' ? extend(loop, fact.order, fact.at) : loop
  switch (fact.kind) {
    case 'asked':
      return askAgain(loop, fact.spec, fact.at)
    case 'told':
      return loop.next.kind === 'restore' ? loop : afterOrder(loop, fact.order, fact)
    case 'turned':
      return loop.next.kind === 'turn' ? afterTurn(loop, fact.turn, fact.at) : loop
    case 'checked':
      if (loop.next.kind !== 'check') return loop
      return loop.next.because === 'start' ? afterBaseline(loop, fact, fact.at) : afterVerdicts(loop, fact, fact.at)
    case 'proved':
      return loop.next.kind === 'prove' && loop.next.run === fact.run ? afterProof(loop, fact, fact.at) : loop
    case 'woke':
      return afterWait(loop, fact.at)
    case 'restored':
      return loop.next.kind === 'restore' ? afterRestore(loop, loop.next, fact.trouble) : loop
    case 'lost':
      return afterLoss({ ...loop, tally: spend(loop.tally, fact) }, fact.at)
  }
}

function moveTo(loop: Loop, to: Extract<Fact, { kind: 'moved' }>['to']): Loop {
  const moved = { ...loop, spec: { ...loop.spec, work: { ...loop.spec.work, ...to } } }
  if (!to.worktree) return moved
  const { session: _, ...tally } = loop.tally // the agent on the other machine does not know it
  return { ...moved, tally }
}

/** The new request counts; checks already running are those of the old one. */
function askAgain(loop: Loop, asked: Spec, at: number): Loop {
  const { spec, tally, next } = loop
  const limits = onTop(asked.limits, tally, at)
  if (next.kind === 'check' || next.kind === 'prove') return { ...loop, spec: { ...spec, limits } }
  const { proofBase } = spec.work // the proof base stays
  const work = { ...asked.work, ...(proofBase === undefined ? {} : { proofBase }) }
  // Earlier trials were for other checks, or with other means of proof.
  const { trials: _, ...counts } = tally
  const changed = { ...loop, spec: { ...asked, limits, work }, tally: counts }
  if (next.kind !== 'turn') return changed
  const over = spent(changed, at)
  return over ? halt(changed, over) : { ...changed, next: turnOf(changed.spec, counts, at) }
}

/** The time of a wait has come. Merely looking at the clock ends a loop whose time is up, and changes nothing else. */
function afterWait(loop: Loop, at: number): Loop {
  const { next } = loop
  if (next.kind === 'wait' && next.why === 'cooldown') return retry(loop, next, at)
  if (next.kind === 'wait' && next.until !== undefined) return again(loop, at)
  return next.kind === 'turn' && isOverdue(loop, at) ? halt(loop, outOfTime(loop.spec.limits.minutes)) : loop
}

function afterOrder(loop: Loop, order: Order, sender: { by: string; at: number }): Loop {
  if (order.kind !== 'done') return obey(loop, order, sender)
  const { tally, next } = loop
  // A claim does not replace the permission it waits for.
  if (next.kind === 'check' || next.kind === 'prove' || (next.kind === 'wait' && next.about === ALLOW)) return loop
  return judge({ ...loop, tally: claimed(wake(tally, sender.at)) }, sender.at)
}

// docs/how-it-decides.md numbers the rules. Rule 2: an agent that could not work is waited for, retried, or given up;
// only a turn that worked is judged.
function afterTurn(loop: Loop, turn: Turn, at: number): Loop {
  const counted = { ...loop, tally: countTurn(loop.spec, loop.tally, turn) }
  const agent = (loop.next.kind === 'turn' && loop.next.agent) || loop.spec.work.agent
  switch (turn.end) {
    case 'limited':
      return waitOut(counted, 'limit', { agent, turn, at })
    case 'overloaded':
      return waitOut(counted, 'overload', { agent, turn, at })
    case 'unusable':
      return standIn(counted, 'limit', { agent, rest: { faults: 1, words: turn.words }, at })
    case 'failed':
      return afterCrash(counted, at)
    case 'ok':
    case 'context-full':
      return judge({ ...counted, tally: withoutRest(counted.tally, agent) }, at)
  }
}

function afterCrash(loop: Loop, at: number): Loop {
  const over = overBudget({ limits: loop.spec.limits, tally: loop.tally }, at)
  const checks = allChecks(loop.spec)
  if (over && checks.length > 0) return { ...loop, next: { kind: 'check', checks, because: 'last-turn' } }
  const open = tripped(loop)
  if (open) return trip(loop, open, at)
  const stop = tooManyAttempts(loop.tally) ?? over
  if (stop) return halt(loop, stop)
  const advice = diagnosis(loop)
  return again(advice ? withFeedback(loop, [advice]) : loop, at)
}

function afterLoss(loop: Loop, at: number): Loop {
  if (loop.next.kind !== 'turn') return loop
  const tally = { ...loop.tally, attempt: loop.tally.attempt + 1 }
  const stop = tooManyAttempts(tally)
  return stop ? halt(loop, stop) : again({ ...loop, tally }, at)
}

function afterVerdicts(loop: Loop, checked: Checked, at: number): Loop {
  const heard = afterChecks(loop, checked)
  return heard.judged ? heard.loop : judge(heard.loop, at, checked)
}

// Rules 3 to 8. First match wins, so the order below is the policy.
function judge(loop: Loop, at: number, checked?: Checked): Loop {
  const because = checked ? undefined : reasonToCheck(loop, at)
  if (because) return { ...loop, next: { kind: 'check', checks: checksFor(loop, at), because } }
  if (isDone(loop, at, checked?.verdicts)) return conclude(loop, at)
  return continueLoop(settle(loop, checked), at)
}

function reasonToCheck(loop: Loop, at: number): Extract<Next, { kind: 'check' }>['because'] | undefined {
  const { spec, tally } = loop
  if (checksFor(loop, at).length === 0) return undefined
  if (tally.claim.kind !== 'none' && !comesTooEarly(spec, tally, tally.claim)) return 'claim'
  if (spec.until) return 'until'
  if (isStalled(loop)) return 'stalled'
  return spent(loop, at) ? 'last-turn' : undefined
}

/** A stage is checked alone, unless this turn must prove the whole loop. */
function checksFor(loop: Loop, at: number): string[] {
  const { spec, tally } = loop
  const stage = stageClaimed(spec, tally, tally.claim)
  return stage && !spec.until && !spent(loop, at) ? [stage.check ?? []].flat() : allChecks(spec)
}

/** Checks that passed before any work add nothing to a claim: without one that failed then, the claim alone decides. */
function isDone(loop: Loop, at: number, verdicts: readonly Verdict[] = []): boolean {
  const { spec, tally } = loop
  const lastTurn = spent(loop, at) !== undefined
  const checks = allChecks(spec)
  const passed = checks.every((check) =>
    verdicts.some((verdict) => verdict.check === check && verdict.result === 'pass'),
  )
  if (!passed || stillOpen(spec, tally, verdicts, lastTurn).length > 0) return false
  return spec.until || checks.some((check) => wasRed(tally, check)) || isAccepted(tally, lastTurn)
}

/** Closes the stages that passed and says what the next iteration must know. */
function settle(loop: Loop, checked: Checked | undefined): Loop {
  const { spec, tally } = loop
  const open = stillOpen(spec, tally, checked?.verdicts ?? [])
  const passed = spec.stages.filter((stage) => !open.includes(stage)).map(({ name }) => name)
  const newly = passed.filter((name) => !tally.passed.includes(name))
  const { best: _, ...counts } = tally
  const moved =
    newly.length > 0
      ? { ...counts, ...movedInRetry(tally), bestAt: tally.iteration, stalled: 0, testOnly: 0, weak: 0 }
      : tally
  const judged = { ...loop, tally: { ...moved, passed } }
  const settled = moved.retry ? afterRetry(judged) : judged
  return withFeedback(settled, feedbackFor(settled, checked ?? { verdicts: [], findings: [] }, newly))
}

function claimed({ ask: _, held: __, ...tally }: Tally): Tally {
  return { ...tally, claim: { kind: 'clear' } }
}
