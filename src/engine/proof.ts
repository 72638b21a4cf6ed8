/** How strong the proof of a loop is that seems done: which experiments it still needs, and the resulting grade. */
import { GRADES, type Grade, type Loop, type Next, type Run, type Tally } from './loop.ts'
import {
  blindSentence,
  brokenSentence,
  changesTo,
  exceptAllowed,
  excusedSentence,
  fewerTests,
  keptSentence,
  listed,
  named,
  redSentence,
  testedBefore,
  untilSentence,
  vacuousSentence,
  whyNot,
} from './proof-words.ts'
import { allChecks } from './stages.ts'
import { excusable, excusedAlone, passedAtStart, sealedFewer, unconfirmed } from './stakes.ts'
import {
  allowedNow,
  blindFinding,
  excusedPaths,
  hasFailed,
  isTouched,
  knownBefore,
  ranOf,
  touchedPaths,
  trialOf,
  trialsOf,
  unsealedPaths,
  wasRed,
} from './trials.ts'

/**
 * `prove`: an experiment must run first. `bent`: only this loop's changes to the means of proof turn these checks
 * green. `together`: tests and work were changed together.
 */
export type Appraisal =
  | { kind: 'prove'; next: Extract<Next, { kind: 'prove' }> }
  | Graded
  | { kind: 'bent'; paths: string[] }
  | { kind: 'together'; paths: string[] }

type Graded = { kind: 'graded'; grade: Grade; sentence: string }

/** All checks pass on the current tree, and the claim counts. */
export function appraise(loop: Loop): Appraisal {
  const { tally } = loop
  const run = neededRun(loop)
  if (run) return { kind: 'prove', next: proveNext(loop, run) }
  const unsealed = isTouched(tally) ? appraiseSeal(loop) : undefined
  if (unsealed) return unsealed
  const blind = blindFinding(tally)
  if (blind) return graded(loop, 'altered', blindSentence(blind))
  const excused = excusedAlone(loop)
  if (excused.length > 0) return graded(loop, 'altered', excusedSentence(loop, excusable(loop), excused))
  return isTouched(tally) ? appraiseTouched(loop) : appraiseUntouched(loop)
}

export function isBelow(grade: Grade, required: Grade | undefined): boolean {
  return required !== undefined && GRADES.indexOf(grade) > GRADES.indexOf(required)
}

/** The next experiment to run. A failure counts only if the current files pass in the same place. */
function neededRun(loop: Loop): Run | undefined {
  const { spec, tally } = loop
  if (spec.proof === 'off') return undefined
  const trials = trialsOf(tally)
  const checks = allChecks(spec)
  const needs = (run: Run) => trials[run] === undefined
  const mustControl = (run: Run) => needs('control') && checks.some((check) => hasFailed(ranOf(tally, run, check)))
  if (isTouched(tally)) {
    if (needs('sealed')) return 'sealed'
    if (mustControl('sealed')) return 'control'
    if (needs('reversed') && isReversedNeeded(loop)) return 'reversed'
    if (mustControl('reversed')) return 'control'
    if (checks.some((check) => trialOf(tally, 'sealed', check) !== 'pass')) return undefined
  }
  if (blindFinding(tally) || (isTouched(tally) && sealedFewer(tally))) return undefined
  const isKnown = (check: string) => knownBefore(tally, check) && !mayBeOwnDoing(loop, check)
  if (spec.proof !== 'seal' && !spec.until && !checks.every(isKnown)) {
    if (needs('start')) return 'start'
    if (mustControl('start')) return 'control'
  }
  if (isTouched(tally)) return needs('start') && unconfirmed(loop).length > 0 ? 'start' : undefined
  if (excusable(loop).length === 0) return undefined
  if (needs('reversed')) return 'reversed'
  return mustControl('reversed') ? 'control' : undefined
}

/**
 * A loop that continues unfinished work may find something broken that this work broke. If tests changed, the reversed
 * run decides.
 */
function mayBeOwnDoing({ spec, tally }: Loop, check: string): boolean {
  return spec.work.proofBase !== undefined && !isTouched(tally) && wasRed(tally, check)
}

/** It failed before any work, including that of an unfinished loop which this one continues. */
function wasRedAtStart(loop: Loop, check: string): boolean {
  return wasRed(loop.tally, check) && (!mayBeOwnDoing(loop, check) || trialOf(loop.tally, 'start', check) === 'fail')
}

/**
 * To tell a bent check from work that changed together with its tests, and to show that this loop's tests test its
 * work.
 */
function isReversedNeeded(loop: Loop): boolean {
  const { spec, tally } = loop
  const sealed = allChecks(spec).map((check) => trialOf(tally, 'sealed', check))
  if (sealed.includes('fail')) return true
  if (sealed.includes('untried') || blindFinding(tally)) return false
  if (spec.proof !== 'seal' && !spec.until) return true
  // Allowed changes are not sealed, so only the reversed run can show that they are not everything.
  return (tally.allowed ?? []).length > 0 || excusable(loop).length > 0
}

/** An experiment with the time left for it. */
export function proveNext({ spec, tally }: Loop, run: Run): Extract<Next, { kind: 'prove' }> {
  return {
    kind: 'prove',
    run,
    checks: allChecks(spec),
    allowed: unsealedPaths(tally),
    ms: Math.max(0, proofBudgetMs(spec.work.proofMinutes, tally) - (tally.proofMs ?? 0)),
  }
}

const LEAST_MINUTES = 10

/** How long all experiments of a loop may take. */
function proofBudgetMs(minutes: number | undefined, { checkMs = 0 }: Tally): number {
  return minutes === undefined ? Math.max(LEAST_MINUTES * 60_000, 2 * checkMs) : minutes * 60_000
}

/** What the sealed run refutes or leaves open. Undefined: the checks pass with the original means of proof. */
function appraiseSeal(loop: Loop): Appraisal | undefined {
  const { spec, tally } = loop
  const paths = touchedPaths(tally)
  const checks = allChecks(spec)
  const sealed = (check: string) => trialOf(tally, 'sealed', check)
  const failing = checks.filter((check) => sealed(check) === 'fail')
  if (failing.some((check) => trialOf(tally, 'reversed', check) === 'pass' && !passedAtStart(loop, check)))
    return { kind: 'bent', paths }
  if (failing.length > 0) return { kind: 'together', paths }
  if (checks.every((check) => sealed(check) === 'pass')) return undefined
  const changed = paths.length > 0 ? `This loop changed ${listed(paths)}. ` : ''
  return graded(
    loop,
    'altered',
    `${changed}The checks could not be run with the original tests and configuration: ${whyNot(loop, 'sealed')}`,
  )
}

function appraiseTouched(loop: Loop): Appraisal {
  const { spec, tally } = loop
  const checks = allChecks(spec)
  const fewer = sealedFewer(tally)
  if (fewer) return graded(loop, 'altered', fewer)
  const vacuous = unconfirmed(loop)
  if (vacuous.length > 0) return graded(loop, 'altered', vacuousSentence(loop, vacuous))
  const shown = checks.filter((check) => isShown(tally, check))
  const red = shown.filter((check) => wasRed(tally, check))
  if (red.length > 0) return graded(loop, 'verified', sealedSentence(loop, red))
  if (spec.until && shown.length > 0) return graded(loop, 'verified', untilSentence(checks))
  return appraiseNewTests(loop)
}

function sealedSentence({ tally }: Loop, red: readonly string[]): string {
  const except = exceptAllowed([...unsealedPaths(tally), ...excusedPaths(tally)])
  return `${redSentence(red)}, even with the original tests and configuration${except}.`
}

/** The means of proof alone do not turn it green, or that did not need to be known. */
function isShown(tally: Tally, check: string): boolean {
  return trialsOf(tally).reversed === undefined || trialOf(tally, 'reversed', check) === 'fail'
}

function appraiseNewTests(loop: Loop): Appraisal {
  const { spec, tally } = loop
  const checks = allChecks(spec)
  const results = checks.map((check) => trialOf(tally, 'reversed', check))
  const hasTests = tally.findings.some(({ kind }) => kind === 'tests-added' || kind === 'tests-changed')
  // A flaky check may have failed here by chance.
  const failing = checks.filter((check, at) => results[at] === 'fail' && !tally.flaky?.includes(check))
  if (hasTests && failing.length > 0) {
    const isLoadOnly = failing.every((check) => ranOf(tally, 'reversed', check)?.red === 'load')
    const how = isLoadOnly ? ', though only because something they load is missing' : ''
    return graded(
      loop,
      'tested',
      `This loop's tests fail without its work${how}. ${testedBefore(loop)} the only evidence that the task is done is the agent's claim.`,
    )
  }
  const kept = keptSentence(loop)
  if (trialsOf(tally).reversed === undefined) return graded(loop, 'kept', kept)
  if (results.includes('untried'))
    return graded(
      loop,
      'kept',
      `${kept} ralph could not test whether the new tests prove more: ${whyNot(loop, 'reversed')}`,
    )
  return graded(loop, 'kept', hasTests ? `${kept} This loop's tests also pass without its work.` : kept)
}

function appraiseUntouched(loop: Loop): Appraisal {
  const { spec, tally } = loop
  const checks = allChecks(spec)
  const fewer = fewerTests(tally, (check) => tally.after?.find((ran) => ran.check === check))
  if (fewer) return graded(loop, 'altered', fewer)
  const red = checks.filter((check) => wasRedAtStart(loop, check))
  if (red.length > 0) return graded(loop, 'verified', `${redSentence(red)}.`)
  if (spec.until) return graded(loop, 'verified', untilSentence(checks))
  const broken = checks.filter((check) => mayBeOwnDoing(loop, check))
  if (broken.length > 0) return graded(loop, 'kept', brokenSentence(broken))
  return graded(loop, 'kept', keptSentence(loop))
}

function graded({ tally }: Loop, grade: Grade, sentence: string): Graded {
  const flaky = tally.flaky?.length
    ? ` ${named(tally.flaky)} failed before on the same files, so it proves nothing.`
    : ''
  const allowed = allowedNow(tally)
  const by = [...new Set(allowed.map((one) => one.by))].join(', ')
  const paths = [...new Set(allowed.map(({ path }) => path))].join(', ')
  const changes = by ? ` Changes to ${paths} were allowed by ${by}.` : ''
  const free = grade === 'altered' ? [] : excusedPaths(tally)
  const excused = free.length > 0 ? ` Changes to ${listed(free)} are allowed by --may-change.` : ''
  return { kind: 'graded', grade, sentence: `${sentence}${flaky}${changes}${excused}` }
}

/** The grade of work whose tests changed with it, once the agent has confirmed that. */
export function alteredTogether(loop: Loop, paths: readonly string[]): Graded {
  return graded(loop, 'altered', `The checks pass only with ${changesTo(loop.tally, paths, 'this loop')}.`)
}
