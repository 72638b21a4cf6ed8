/** The only place that says what a loop does next. */
import { diagnosis, isStalled, oneLine, tripped } from './breaker.ts'
import { isAccepted } from './claim.ts'
import { afterProof, conclude } from './conclude.ts'
import { afterRetry, reset, retry, trip, waitOn, withLimits } from './cooldown.ts'
import { beforeSentence, feedbackFor, NOBODY_HERE } from './feedback.ts'
import { goOn } from './go-on.ts'
import { isOverdue, onTop, outOfTime, overBudget, retryAt, spent } from './limits.ts'
import {
  ALLOW,
  ended,
  type Fact,
  type Finding,
  type Loop,
  type Next,
  type Order,
  type Ran,
  type Said,
  type Spec,
  type Tally,
  type Turn,
  turnOf,
  type Verdict,
} from './loop.ts'
import { afterRestore, again, halt, rest, tooManyAttempts, type Wait, waitUntil, wake, withFeedback } from './moves.ts'
import { alreadyDone, fewerTests } from './proof-words.ts'
import { agentsOf, freeAgent, nextBack, type Rest, withoutRest, withRest } from './roster.ts'
import { allChecks, comesTooEarly, stageClaimed, stillOpen } from './stages.ts'
import { countChecks, countTurn, doubted, movedInRetry, spend } from './tally.ts'
import { changesIn, isUntouched, ofStart, touchedPaths, trialsOf, wasRed, withAllowed } from './trials.ts'

/** Moves a loop by one fact. Pure and total: the caller brings the facts, time among them. */
export function step(loop: Loop, fact: Fact): Loop {
  // Where a loop is kept and what it was before this record are true of one that is over, too.
  if (fact.kind === 'adopted') return { id: loop.id, ...fact.loop }
  if (fact.kind === 'moved') return moveTo(loop, fact.to)
  if (ended(loop)) return loop
  switch (fact.kind) {
    case 'asked':
      return askAnew(loop, fact.spec, fact.at)
    case 'told':
      return loop.next.kind === 'restore' ? loop : obey(loop, fact.order, fact)
    case 'turned':
      return loop.next.kind === 'turn' ? afterTurn(loop, fact.turn, fact.at) : loop
    case 'checked':
      if (loop.next.kind !== 'check') return loop
      return loop.next.because === 'start' ? afterBaseline(loop, fact, fact.at) : afterChecks(loop, fact, fact.at)
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
  return { ...loop, spec: { ...loop.spec, work: { ...loop.spec.work, ...to } } }
}

/** What is asked for now counts, except for the number of iterations; checks under way are the ones that were asked for then. */
function askAnew(loop: Loop, asked: Spec, at: number): Loop {
  const { spec, tally, next } = loop
  const limits = { ...onTop(asked.limits, tally, at), iterations: spec.limits.iterations }
  if (next.kind === 'check' || next.kind === 'prove') return { ...loop, spec: { ...spec, limits } }
  const { proofBase } = spec.work // what the proof is measured against stays
  const work = { ...asked.work, ...(proofBase === undefined ? {} : { proofBase }) }
  // What was tried was tried for other checks, or with other means of proof.
  const { trials: _, ...counts } = tally
  const changed = { ...loop, spec: { ...asked, limits, work }, tally: counts }
  return next.kind === 'turn' ? { ...changed, next: turnOf(changed.spec, counts, at) } : changed
}

/** The time of a wait has come. Who only looks at the clock ends a loop whose time is over, and changes nothing else. */
function afterWait(loop: Loop, at: number): Loop {
  const { next } = loop
  if (next.kind === 'wait' && next.why === 'cooldown') return retry(loop, next, at)
  if (next.kind === 'wait' && next.until !== undefined) return again(loop, at)
  return next.kind === 'turn' && isOverdue(loop, at) ? halt(loop, outOfTime(loop.spec.limits.minutes)) : loop
}

function obey(loop: Loop, order: Order, { by, at }: { by: string; at: number }): Loop {
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
      const told = { ...loop, tally: { ...tally, said: [...tally.said, said] } }
      if (next.kind === 'turn') return again(told, at)
      return next.kind === 'wait' && next.why === 'person' ? answered(told, at) : told
    }
    case 'done':
      // What waits to be allowed is not done by being said once more.
      return next.kind === 'check' || next.kind === 'prove' || (next.kind === 'wait' && next.about === ALLOW)
        ? loop
        : judge({ ...loop, tally: claimed(wake(tally, at)) }, at)
    case 'out-of-time':
      return halt(loop, outOfTime(spec.limits.minutes))
    case 'rested':
      // One fact, since who is killed between a pause and its end leaves a loop that seems to wait for a person.
      return obey(obey(loop, { kind: 'pause' }, { by, at: order.since }), { kind: 'resume' }, { by, at })
    case 'edit': {
      const { kind: _, ...edited } = order
      return { ...loop, spec: { ...spec, ...edited } }
    }
    case 'limits': {
      const limited = withLimits(loop, order.limits)
      if (next.kind === 'turn') return again(limited, at)
      return next.kind === 'wait' ? waitOn(limited, next, at) : limited
    }
    case 'allow':
      return next.kind === 'wait' && next.about === ALLOW ? allow(loop, order.paths, { by, at }) : loop
  }
}

function cancelSentence({ rejected }: Extract<Order, { kind: 'cancel' }>, by: string): string {
  if (typeof rejected !== 'object') return `Cancelled by ${by}.`
  const who = by === 'you' ? 'You' : by
  return `${who} rejected it${rejected.why ? `: ${rejected.why}` : ''}.`
}

/** A person lets changed means of proof stand; what was bent is tried with them. */
function allow(loop: Loop, paths: readonly string[], { by, at }: { by: string; at: number }): Loop {
  const asked = touchedPaths(loop.tally)
  const named = paths.length > 0 ? asked.filter((path) => paths.includes(path)) : asked
  const { sealed: _, ...trials } = trialsOf(loop.tally)
  const allowed = withAllowed(loop.tally, named, by)
  return checkAgain({ ...loop, tally: { ...wake(loop.tally, at), allowed, trials } })
}

/** While somebody thought it over, the files may have changed; what was tried on the same ones still counts. */
function checkAgain(loop: Loop): Loop {
  const { spec, tally } = loop
  const because = tally.claim.kind !== 'none' ? 'claim' : spec.until ? 'until' : 'last-turn'
  return { ...loop, next: { kind: 'check', checks: allChecks(spec), because } }
}

/** Takes up what a pause held; tries a limited agent at once; closes an open breaker; goes on without an answer where one was waited for. */
function resume(loop: Loop, { why, about }: Wait, at: number): Loop {
  const { held, ...tally } = loop.tally
  if (why === 'person') {
    const said: Said[] = about === ALLOW ? tally.said : [...tally.said, { by: 'ralph', words: NOBODY_HERE }]
    return answered({ ...loop, tally: { ...tally, said } }, at)
  }
  if (why === 'cooldown') return reset(loop, at)
  // Who drives it begins it, with the files as they are then.
  if (why === 'queued') return loop
  if (why !== 'paused' || !held) return again(loop, at)
  if (held.kind === 'wait' && held.why === 'person')
    return tally.said.length > 0 ? answered({ ...loop, tally }, at) : { ...loop, tally, next: held }
  const awake = { ...loop, tally: wake(tally, at), next: held }
  if (held.kind === 'wait') return waitOn(awake, held, at)
  if (held.kind === 'prove') return checkAgain(awake)
  return held.kind === 'turn' ? again(awake, at) : awake
}

/** A person spoke: the counts that made the loop ask start anew. */
function answered(loop: Loop, at: number): Loop {
  const { retry: _, ...counts } = loop.tally
  const feedback = counts.feedback.filter((words) => words !== NOBODY_HERE)
  const extra = counts.extra + (loop.spec.once ? 1 : 0)
  const tally = { ...wake(counts, at), feedback, extra, asked: 0, denied: 0, stalled: 0 }
  const stop = spent({ ...loop, tally }, at)
  return stop ? halt({ ...loop, tally }, stop) : again({ ...loop, tally }, at)
}

// docs/how-it-decides.md numbers the rules. Rule 2: an agent that could not work is waited for, tried again, or given up; only a turn that worked is judged.
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

function waitOut(loop: Loop, why: Fault, { agent, turn, at }: { agent: string; turn: Turn; at: number }): Loop {
  const { spec, tally } = loop
  const stop = tooManyAttempts(tally) ?? overBudget({ limits: spec.limits, tally }, at)
  if (stop) return halt(loop, stop)
  // Each of several agents has its own patience; a single one counts its faults in a row.
  const faults = spec.agents ? (tally.resting?.[agent]?.faults ?? 0) + 1 : tally.faults
  const until = retryAt(faults, at, turn.resetsAt)
  return standIn(loop, why, { agent, rest: { until, faults, words: turn.words }, at })
}

type Fault = 'limit' | 'overload'

/** The next agent takes over at once; where none is free, the first to come back is waited for. */
function standIn(loop: Loop, why: Fault, { agent, rest, at }: { agent: string; rest: Rest; at: number }): Loop {
  const rested = { ...loop, tally: withRest(loop.tally, agent, rest) }
  const { spec, tally } = rested
  if (spec.agents && freeAgent(spec, tally, at) !== undefined) return again(rested, at)
  const back = nextBack(spec, tally)
  if (back) return waitUntil(spec.agents ? rested : loop, why, back.until, at)
  const words = agentsOf(spec).map(
    (name) => `${spec.agents ? `${name}: ` : ''}${oneLine(tally.resting?.[name]?.words ?? '')}`,
  )
  const subject = words.length > 1 ? 'No agent can be used' : 'The agent cannot be used'
  return halt(loop, { reason: 'agent-unusable', sentence: `${subject}: ${words.join(' · ')}` })
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

type Checked = Pick<Extract<Fact, { kind: 'checked' }>, 'verdicts' | 'findings' | 'tree' | 'ms' | 'marks'>

/** What the checks say before any work is for the first prompt and for the proof; breaker, best and clock do not hear of it. */
function afterBaseline(loop: Loop, { verdicts, tree, findings, marks }: Checked, at: number): Loop {
  const { spec } = loop
  const checks = allChecks(spec)
  const tally: Tally = {
    ...loop.tally,
    restedMs: Math.max(0, at - loop.tally.startedAt),
    before: verdicts.map(ranOf),
    findings,
    ...(marks === undefined ? {} : { marks }),
    ...(tree === undefined ? {} : { tree, ...failedOn(tree, verdicts) }),
    feedback: verdicts.filter(({ result }) => result === 'fail' || result === 'broken').map(beforeSentence),
  }
  const begun = { ...loop, tally }
  const passed = checks.every((check) => verdicts.some((one) => one.check === check && one.result === 'pass'))
  const isDoneAlready = spec.until && passed && stillOpen(spec, tally, verdicts).length === 0
  // Measured from a state before the start, somebody may have changed what the command tests.
  if (isDoneAlready && !isUntouched(tally)) return conclude(begun, at)
  if (isDoneAlready) return { ...begun, next: { kind: 'complete', proof: 'verified', sentence: alreadyDone(checks) } }
  return again(begun, at)
}

function ranOf({ tail: _, ...ran }: Verdict): Ran {
  return ran
}

function failedOn(tree: string, verdicts: readonly Verdict[]): Pick<Tally, 'failed'> {
  const checks = verdicts.filter(({ result }) => result === 'fail').map(({ check }) => check)
  return checks.length > 0 ? { failed: { tree, checks } } : {}
}

function afterChecks(loop: Loop, checked: Checked, at: number): Loop {
  const slowBefore = loop.tally.slow
  const tally = { ...countChecks(loop.tally, checked.verdicts, checked.tree), ...rememberRound(loop, checked) }
  const refused = isClaimRefused(loop, checked.verdicts)
  const counted = { ...loop, tally: { ...tally, falseClaims: tally.falseClaims + (refused ? 1 : 0) } }
  const broken = checked.verdicts.find(({ result }) => result === 'broken')
  if (broken)
    return halt(counted, {
      reason: 'verifier-broken',
      sentence: `The check "${broken.check}" cannot be started: ${oneLine(broken.tail)}`,
    })
  const slow = tally.slow.find((check) => slowBefore.includes(check))
  if (slow)
    return halt(counted, { reason: 'verifier-broken', sentence: `The check "${slow}" ran out of time twice in a row.` })
  const again = failedBefore(loop, checked)
  if (again.length > 0 && loop.next.kind === 'check' && loop.next.because !== 'flaky')
    return { ...counted, next: { ...loop.next, because: 'flaky' } }
  return judge(again.length > 0 ? withFlaky(counted, again) : counted, at, checked)
}

function rememberRound({ spec, tally }: Loop, { verdicts, findings: found, tree, ms }: Checked): Partial<Tally> {
  const isWhole = allChecks(spec).every((check) => verdicts.some((verdict) => verdict.check === check))
  const fewer = fewerTests(tally, (check) =>
    verdicts.find((verdict) => verdict.check === check && verdict.result === 'pass'),
  )
  const findings: Finding[] = [
    ...tally.findings.filter(({ kind }) => kind === 'inherited'),
    ...found,
    ...(fewer ? [{ kind: 'fewer-tests' as const, path: '', words: fewer.replace(/\.$/, '') }] : []),
  ]
  const isSame = changesIn(findings) === changesIn(tally.findings)
  return {
    findings,
    ...(isSame || !tally.trials ? {} : { trials: ofStart(tally.trials) }),
    ...(isWhole ? { after: verdicts.map(ranOf) } : {}),
    ...(ms === undefined ? {} : { checkMs: ms }),
    ...(tree === undefined ? {} : failedOn(tree, verdicts)),
  }
}

/** Checks that pass now and failed before on the very same files. */
function failedBefore({ tally }: Loop, { verdicts, tree }: Checked): string[] {
  if (tree === undefined || tally.failed?.tree !== tree) return []
  return tally.failed.checks.filter((name) => verdicts.some(({ check, result }) => check === name && result === 'pass'))
}

function withFlaky(loop: Loop, checks: readonly string[]): Loop {
  const { spec, tally } = loop
  const findings: Finding[] = checks.map((check) => ({
    kind: 'flaky',
    path: '',
    words: `\`${check}\` failed and then passed on the very same files`,
  }))
  const flaky = [...new Set([...(tally.flaky ?? []), ...checks])]
  return { ...loop, tally: doubted(spec, { ...tally, flaky, findings: [...tally.findings, ...findings] }) }
}

function isClaimRefused({ spec, tally, next }: Loop, verdicts: readonly Verdict[]): boolean {
  const stage = stageClaimed(spec, tally, tally.claim)
  const failed = verdicts.filter(({ result }) => result === 'fail' || result === 'timeout')
  const concerned = stage ? failed.filter(({ check }) => check === stage.check) : failed
  // An agent that only mentions the tag may as well mean the opposite.
  if (tally.claim.kind === 'none' || tally.claim.form === 'mentioned') return false
  const isClaimed = next.kind === 'check' && (next.because === 'claim' || next.because === 'flaky')
  return isClaimed && concerned.length > 0
}

// Rules 3 to 8. First match wins, so the order below is the policy.
function judge(loop: Loop, at: number, checked?: Checked): Loop {
  const because = checked ? undefined : reasonToCheck(loop, at)
  if (because) return { ...loop, next: { kind: 'check', checks: checksFor(loop, at), because } }
  if (isDone(loop, at, checked?.verdicts)) return conclude(loop, at)
  return goOn(settle(loop, checked), at)
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

/** Checks that passed before any work add nothing to a claim: without one that failed then, the claim must do. */
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
