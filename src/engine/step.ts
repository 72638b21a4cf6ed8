/** The only place that says what a loop does next. */
import { diagnosis, isStalled, oneLine, tripped } from './breaker.ts'
import { isAccepted } from './claim.ts'
import { feedbackFor, NOBODY_HERE, saidSentence } from './feedback.ts'
import {
  ATTEMPTS,
  count,
  deadline,
  extension,
  isOverdue,
  onTop,
  outOfTime,
  overBudget,
  retryAt,
  type Stop,
  spent,
} from './limits.ts'
import {
  ended,
  type Fact,
  type Loop,
  type Next,
  type Order,
  type Said,
  type Spec,
  type Tally,
  type Turn,
  turnOf,
  type Verdict,
} from './loop.ts'
import { agentsOf, freeAgent, nextBack, type Rest, withoutRest, withRest } from './roster.ts'
import { allChecks, comesTooEarly, stageClaimed, stillOpen } from './stages.ts'
import { countChecks, countTurn, spend } from './tally.ts'

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
      return loop.next.kind === 'check' ? afterChecks(loop, fact, fact.at) : loop
    case 'woke':
      return afterWait(loop, fact.at)
    case 'restored':
      return loop.next.kind === 'restore' ? afterRestore(loop, loop.next, fact.trouble) : loop
    case 'lost':
      return afterLoss({ ...loop, tally: spend(loop.tally, fact) }, fact.at)
  }
}

type Restore = Extract<Next, { kind: 'restore' }>
type Wait = Extract<Next, { kind: 'wait' }>

function moveTo(loop: Loop, to: Extract<Fact, { kind: 'moved' }>['to']): Loop {
  return { ...loop, spec: { ...loop.spec, work: { ...loop.spec.work, ...to } } }
}

/** What is asked for now counts, except for the number of iterations; checks under way are the ones that were asked for then. */
function askAnew(loop: Loop, asked: Spec, at: number): Loop {
  const { spec, tally, next } = loop
  const limits = { ...onTop(asked.limits, tally, at), iterations: spec.limits.iterations }
  if (next.kind === 'check') return { ...loop, spec: { ...spec, limits } }
  const changed = { ...loop, spec: { ...asked, limits } }
  return next.kind === 'turn' ? { ...changed, next: turnOf(changed.spec, tally, at) } : changed
}

/** The time of a wait has come. Who only looks at the clock ends a loop whose time is over, and changes nothing else. */
function afterWait(loop: Loop, at: number): Loop {
  if (loop.next.kind === 'wait' && loop.next.until !== undefined) return again(loop, at)
  return loop.next.kind === 'turn' && isOverdue(loop, at) ? halt(loop, outOfTime(loop.spec.limits.minutes)) : loop
}

function obey(loop: Loop, order: Order, { by, at }: { by: string; at: number }): Loop {
  const { spec, tally, next } = loop
  switch (order.kind) {
    case 'cancel':
      return halt(loop, {
        reason: 'cancelled',
        sentence: `Cancelled by ${by}.`,
        ...(order.rejected ? { rejected: true } : {}),
      })
    case 'pause':
      if (next.kind === 'wait' && next.why === 'paused') return loop
      return { ...loop, tally: { ...rest(tally, at), held: next }, next: { kind: 'wait', why: 'paused' } }
    case 'resume':
      return next.kind === 'wait' ? resume(loop, next, at) : loop
    case 'say': {
      const said: Said = { by: by === 'ralph' ? 'ralph' : 'person', words: order.words }
      const told = { ...loop, tally: { ...tally, said: [...tally.said, said] } }
      if (next.kind === 'turn') return again(told, at)
      return next.kind === 'wait' && next.why === 'person' ? answered(told, at) : told
    }
    case 'done':
      return next.kind === 'check' ? loop : judge({ ...loop, tally: claimed(wake(tally, at)) }, at)
    case 'out-of-time':
      return halt(loop, outOfTime(spec.limits.minutes))
    case 'edit': {
      const { kind: _, ...edited } = order
      return { ...loop, spec: { ...spec, ...edited } }
    }
    case 'limits': {
      const limited = { ...loop, spec: { ...spec, limits: { ...spec.limits, ...order.limits } } }
      if (next.kind === 'turn') return again(limited, at)
      return next.kind === 'wait' && next.until !== undefined ? waitUntil(limited, next.why, next.until, at) : limited
    }
  }
}

/** Takes up what a pause held; tries a limited agent at once; goes on without an answer where one was waited for. */
function resume(loop: Loop, { why }: Wait, at: number): Loop {
  const { held, ...tally } = loop.tally
  if (why === 'person') {
    const said: Said[] = [...tally.said, { by: 'ralph', words: NOBODY_HERE }]
    return answered({ ...loop, tally: { ...tally, said } }, at)
  }
  if (why !== 'paused' || !held) return again(loop, at)
  if (held.kind === 'wait' && held.why === 'person')
    return tally.said.length > 0 ? answered({ ...loop, tally }, at) : { ...loop, tally, next: held }
  const awake = { ...loop, tally: wake(tally, at), next: held }
  if (held.kind === 'wait' && held.until !== undefined) return waitUntil(awake, held.why, held.until, at)
  return held.kind === 'turn' ? again(awake, at) : awake
}

/** A person spoke: the counts that made the loop ask start anew. */
function answered(loop: Loop, at: number): Loop {
  const feedback = loop.tally.feedback.filter((words) => words !== NOBODY_HERE)
  const tally = { ...wake(loop.tally, at), feedback, asked: 0, denied: 0, stalled: 0 }
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

function waitUntil(loop: Loop, why: Wait['why'], until: number, at: number): Loop {
  const { spec, tally } = loop
  if (spec.limits.minutes !== undefined && until >= deadline(spec.limits.minutes, tally))
    return halt(loop, {
      reason: 'timeout',
      sentence: `The agent can go on in ${count(Math.ceil((until - at) / 60_000), 'minute')}, which is after the time limit of ${count(spec.limits.minutes, 'minute')}: ${oneLine(tally.trouble ?? '')}`,
    })
  return { ...loop, next: { kind: 'wait', why, until } }
}

function afterCrash(loop: Loop, at: number): Loop {
  const over = overBudget({ limits: loop.spec.limits, tally: loop.tally }, at)
  const checks = allChecks(loop.spec)
  if (over && checks.length > 0) return { ...loop, next: { kind: 'check', checks, because: 'last-turn' } }
  const stop = tripped(loop) ?? tooManyAttempts(loop.tally) ?? over
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

type Checked = { verdicts: Verdict[]; findings: string[]; tree?: string }

function afterChecks(loop: Loop, checked: Checked, at: number): Loop {
  const slowBefore = loop.tally.slow
  const tally = { ...countChecks(loop.tally, checked.verdicts, checked.tree), findings: checked.findings }
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
  return judge(counted, at, checked)
}

function isClaimRefused({ spec, tally, next }: Loop, verdicts: readonly Verdict[]): boolean {
  const stage = stageClaimed(spec, tally, tally.claim)
  const failed = verdicts.filter(({ result }) => result === 'fail' || result === 'timeout')
  const concerned = stage ? failed.filter(({ check }) => check === stage.check) : failed
  return next.kind === 'check' && next.because === 'claim' && concerned.length > 0
}

// Rules 3 to 8. First match wins, so the order below is the policy.
function judge(loop: Loop, at: number, checked?: Checked): Loop {
  const because = checked ? undefined : reasonToCheck(loop, at)
  if (because) return { ...loop, next: { kind: 'check', checks: checksFor(loop, at), because } }
  if (isDone(loop, checked?.verdicts))
    return { ...loop, next: { kind: 'complete', proof: allChecks(loop.spec).length > 0 ? 'verified' : 'claimed' } }

  const settled = settle(loop, checked)
  const asked = asksPerson(settled.tally)
  if (asked) return { ...settled, tally: rest(settled.tally, at), next: { kind: 'wait', why: 'person', ...asked } }

  const stop = tripped(settled)
  if (stop) return halt(settled, stop)

  const more = spent(settled, at)?.reason === 'max-iterations' ? extension(settled) : 0
  const grown = more ? { ...settled, tally: { ...settled.tally, extra: settled.tally.extra + more } } : settled
  const over = spent(grown, at)
  if (over) return halt(grown, over)

  return again(grown, at)
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

function isDone({ spec, tally }: Loop, verdicts: readonly Verdict[] = []): boolean {
  const checks = allChecks(spec)
  const proven = checks.every((check) =>
    verdicts.some((verdict) => verdict.check === check && verdict.result === 'pass'),
  )
  return proven && stillOpen(spec, tally, verdicts).length === 0 && (checks.length > 0 || isAccepted(tally))
}

/** Closes the stages that passed and says what the next iteration must know. */
function settle(loop: Loop, checked: Checked | undefined): Loop {
  const { spec, tally } = loop
  const open = stillOpen(spec, tally, checked?.verdicts ?? [])
  const passed = spec.stages.filter((stage) => !open.includes(stage)).map(({ name }) => name)
  const newly = passed.filter((name) => !tally.passed.includes(name))
  const { best: _, ...counts } = tally
  const moved = newly.length > 0 ? { ...counts, bestAt: tally.iteration, stalled: 0, testOnly: 0, weak: 0 } : tally
  const settled = { ...loop, tally: { ...moved, passed } }
  return withFeedback(settled, feedbackFor(settled, checked ?? { verdicts: [], findings: [] }, newly))
}

/** The question for a person, once it is certain that going on alone does not help. */
function asksPerson({ ask, asked, denied }: Tally): Pick<Wait, 'question' | 'about'> | undefined {
  if (!ask) return undefined
  if (ask.kind === 'person') return { question: ask.words, ...(ask.about === undefined ? {} : { about: ask.about }) }
  if (ask.kind === 'permission')
    return denied >= 2 ? { question: `The agent was denied twice: ${ask.words}` } : undefined
  return asked >= 2 ? { question: ask.words } : undefined
}

/** The turn this loop asks for, if time and money allow one more. */
function again(loop: Loop, at: number): Loop {
  const { spec } = loop
  const tally = hear(loop.tally)
  const stop = overBudget({ limits: spec.limits, tally }, at)
  return stop ? halt(loop, stop) : { ...loop, tally, next: turnOf(spec, tally, at) }
}

/** What was said becomes part of what the next turn is told. */
function hear(tally: Tally): Tally {
  if (tally.said.length === 0) return tally
  const heard = [...(tally.heard ?? []), ...tally.said.filter(({ by }) => by === 'person').map(({ words }) => words)]
  return {
    ...tally,
    feedback: [...tally.feedback, ...tally.said.map(saidSentence)],
    ...(heard.length > 0 ? { heard } : {}),
    said: [],
  }
}

function withFeedback(loop: Loop, feedback: string[]): Loop {
  return { ...loop, tally: { ...loop.tally, feedback: [...new Set([...loop.tally.feedback, ...feedback])] } }
}

function tooManyAttempts({ attempt, iteration }: Tally): Stop | undefined {
  if (attempt <= ATTEMPTS) return undefined
  return {
    reason: 'max-attempts',
    sentence: `Iteration ${iteration + 1} was tried ${ATTEMPTS} times without the agent getting to work.`,
  }
}

function halt(loop: Loop, stop: Stop & { rejected?: true }): Loop {
  const to = leftAt(loop)
  return { ...loop, next: to === undefined ? { kind: 'halt', ...stop } : { kind: 'restore', to, ...stop } }
}

/** The iteration whose state a loop that halts leaves behind. Undefined: the last one, as it is. */
function leftAt({ spec, tally }: Loop): number | undefined {
  if (tally.changed !== true) return undefined
  return spec.onHalt === 'restore' ? 0 : spec.onHalt === 'best' ? tally.bestAt : undefined
}

function afterRestore(loop: Loop, { kind: _, to, ...stop }: Restore, trouble: string | undefined): Loop {
  const state = to === 0 ? 'before the loop began' : `after iteration ${to}, the best so far`
  const left =
    trouble === undefined ? `The files are as they were ${state}.` : `The files could not be put back: ${trouble}`
  return { ...loop, next: { ...stop, kind: 'halt', sentence: `${stop.sentence} ${left}` } }
}

/** While a person is waited for, the clock of the time limit stands still. */
function rest(tally: Tally, at: number): Tally {
  return tally.restingSince === undefined ? { ...tally, restingSince: at } : tally
}

function wake({ restingSince, ...tally }: Tally, at: number): Tally {
  return { ...tally, restedMs: tally.restedMs + Math.max(0, at - (restingSince ?? at)) }
}

function claimed({ ask: _, held: __, ...tally }: Tally): Tally {
  return { ...tally, claim: { kind: 'clear' } }
}
