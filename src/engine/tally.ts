/** What one turn or one round of checks adds to a loop's memory. Bookkeeping only: nothing is decided here. */
import { fingerprint } from './fingerprint.ts'
import type { Ask, Claim, Spec, Tally, Turn, Verdict } from './loop.ts'
import { allChecks } from './stages.ts'
import { ofStart, wasRed } from './trials.ts'

const WORDS_KEPT = 1_000

/** Counts a turn. Only a turn in which the agent could work is an iteration; others are attempts at it. */
export function countTurn(spec: Spec, before: Tally, turn: Turn): Tally {
  const spending = spend(turn.end === 'overloaded' ? before : answering(before), turn)
  const worked = hasWorked(turn)
  const words = turn.words.slice(-WORDS_KEPT)
  const told = worked && turn.ask === undefined
  // If the tree is unknown, only new words about the work are a sign of progress.
  const moved = turn.tree === undefined ? told && words !== before.words : turn.tree !== before.tree
  const tally: Tally = {
    ...withAsk(spending, undefined),
    ...(told ? { words } : {}),
    ...(worked ? {} : { trouble: words }),
    claim: { kind: 'none' },
    stalled: moved ? 0 : before.stalled,
    testOnly: moved ? 0 : before.testOnly,
    ...(moved ? movedInRetry(before) : {}),
    ...(turn.tree === undefined ? unseen(before) : { tree: turn.tree }),
    ...(turn.session === undefined ? {} : { session: turn.session }),
    ...changed(before, turn),
  }
  switch (turn.end) {
    case 'limited':
    case 'overloaded':
      return { ...tally, faults: before.faults + 1, attempt: before.attempt + 1 }
    case 'failed':
      return { ...withError(tally, turn.error), crashes: before.crashes + 1, attempt: before.attempt + 1 }
    case 'unusable':
      return { ...tally, attempt: before.attempt + 1 }
    case 'ok':
    case 'context-full':
      return countIteration(spec, { before, tally, turn, moved })
  }
}

/** Its service answered, so an overload has ended. */
export function answering({ overloadedSince: _, ...tally }: Tally): Tally {
  return tally
}

/** Whether a turn is an iteration, not just an attempt at one. */
export function hasWorked({ end }: Pick<Turn, 'end'>): boolean {
  return end === 'ok' || end === 'context-full'
}

type Counting = { before: Tally; tally: Tally; turn: Turn; moved: boolean }

function countIteration(
  spec: Spec,
  { before, tally: { heard: _, comments: __, ...tally }, turn, moved }: Counting,
): Tally {
  const claim = effectiveClaim(spec, tally, turn)
  const idle = !moved && turn.ask === undefined
  const denied = turn.ask?.kind === 'permission'
  // Without a check, a turn that worked ends the series of equal failures.
  const over = turn.error === undefined && turn.end === 'ok' && allChecks(spec).length === 0
  const sane = before.crashes > 0 || over ? { ...tally, repeats: 0 } : tally
  return {
    ...withAsk(withError(sane, turn.error), turn.ask),
    iteration: before.iteration + 1,
    attempt: 1,
    feedback: [],
    fresh: turn.end === 'context-full',
    crashes: 0,
    faults: 0,
    claim,
    weak: countWeak(before, claim),
    asked: turn.ask ? (moved ? 0 : before.asked) + (denied ? 0 : 1) : 0,
    denied: turn.ask ? before.denied + (denied ? 1 : 0) : 0,
    stalled: moved ? 0 : before.stalled + (idle ? 1 : 0),
    testOnly: idle && turn.ranTests ? before.testOnly + 1 : idle ? 0 : tally.testOnly,
  }
}

/** Counts a round of checks: open failures, and whether they fell. */
export function countChecks(before: Tally, verdicts: readonly Verdict[], tree?: string): Tally {
  const failures = openFailures(verdicts)
  const better = failures < (before.best ?? Number.POSITIVE_INFINITY)
  const improved = better && before.best !== undefined
  const tally: Tally = {
    ...before,
    ...(tree === undefined ? {} : { tree }),
    failures,
    best: better ? failures : (before.best ?? failures),
    // The last of equals: it contains more of the work.
    bestAt: failures <= (before.best ?? failures) ? before.iteration : (before.bestAt ?? before.iteration),
    falling: before.failures !== undefined && failures < before.failures,
    slow: verdicts.filter(({ result }) => result === 'timeout').map(({ check }) => check),
    stalled: improved ? 0 : before.stalled,
    testOnly: improved ? 0 : before.testOnly,
    ...(improved ? movedInRetry(before) : {}),
  }
  if (failures === 0) return withError({ ...tally, repeats: 0 }, undefined)
  return withError(improved ? { ...tally, repeats: 0 } : tally, fingerprint(verdicts))
}

/** Progress, by which a retry is judged. */
export function movedInRetry({ retry }: Tally): Pick<Tally, 'retry'> {
  return retry ? { retry: { ...retry, moved: true } } : {}
}

/** Adds what an attempt cost, even if it was interrupted. */
export function spend(tally: Tally, cost: { tokens?: number; costUsd?: number }): Tally {
  return { ...tally, tokens: tally.tokens + amount(cost.tokens), costUsd: tally.costUsd + amount(cost.costUsd) }
}

function changed(before: Tally, turn: Turn): { changed?: boolean } {
  if (turn.tree === undefined || before.tree === undefined) return {}
  return { changed: before.changed === true || turn.tree !== before.tree }
}

/** If nobody saw what a turn did, earlier experiments say nothing about its result. */
function unseen({ trials }: Tally): Pick<Tally, 'trials'> {
  return trials ? { trials: ofStart(trials) } : {}
}

function effectiveClaim(spec: Spec, tally: Tally, turn: Turn): Claim {
  const { claim, end, refused } = turn
  if (end === 'context-full' || refused) return { kind: 'none' }
  return claim.kind === 'clear' && isDoubtful(spec, tally) ? { ...claim, kind: 'weak', form: 'stated' } : claim
}

/** Weak claims of one kind in a row. A mention never counts; a crash between two claims does not separate them. */
function countWeak({ claim: last, weak }: Tally, { kind, form = 'stated', stage }: Claim): number {
  if (kind !== 'weak' || form === 'mentioned') return 0
  const again = last.kind === 'none' || ((last.form ?? 'stated') === form && last.stage === stage)
  return again ? weak + 1 : 1
}

/** The same loop, after a check that seemed to have failed before turns out to show nothing. */
export function doubted(spec: Spec, tally: Tally): Tally {
  if (tally.claim.kind !== 'clear' || !isDoubtful(spec, tally)) return tally
  return { ...tally, claim: { ...tally.claim, kind: 'weak' }, weak: tally.weak + 1 }
}

/** With nothing changed and no check that failed before any work, even a clear claim only earns a second look. */
function isDoubtful(spec: Spec, tally: Tally): boolean {
  return !spec.once && tally.changed === false && !allChecks(spec).some((check) => wasRed(tally, check))
}

function withAsk({ ask: _, ...tally }: Tally, ask: Ask | undefined): Tally {
  return ask ? { ...tally, ask } : tally
}

function withError({ error: before, ...tally }: Tally, error: string | undefined): Tally {
  if (!error) return before === undefined ? tally : { ...tally, error: before }
  return { ...tally, error, repeats: error === before ? tally.repeats + 1 : 1 }
}

function openFailures(verdicts: readonly Verdict[]): number {
  return verdicts.reduce(
    (sum, { result, failures }) => sum + (result === 'pass' ? 0 : Math.max(1, amount(failures))),
    0,
  )
}

function amount(value: number | undefined): number {
  return value !== undefined && Number.isFinite(value) && value > 0 ? Math.min(value, Number.MAX_SAFE_INTEGER) : 0
}
