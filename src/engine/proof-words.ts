/** The sentences of a proof: why it has its grade, and what would earn a better one. */
import { oneLine, stopped } from './breaker.ts'
import { count } from './limits.ts'
import type { Finding, Grade, Loop, Ran, Run, Tally } from './loop.ts'
import { allChecks } from './stages.ts'
import { knownBefore, ranOf, trialOf, trialsOf, wasRed } from './trials.ts'

/** How to get a better proof. `excused`: tests covered by --may-change were changed, which alone prove nothing. */
export function proofAdvice(
  { grade, sentence }: { grade: Grade; sentence: string },
  required: Grade,
  excused: boolean,
): string {
  const done = grade === 'claimed' ? 'You said you were done' : 'The checks pass'
  const lead = `${done}, but the proof is only "${grade}" and this task requires "${required}". ${sentence}`
  if (grade === 'claimed') return lead
  if (excused && grade === 'altered') return `${lead} Do the actual work: the tests you changed must fail without it.`
  if (excused)
    return `${lead} Write a test that fails without your change and passes with it, in a file that --may-change does not cover.`
  if (grade === 'altered')
    return `${lead} Restore the tests and configuration that you changed, and make the checks pass with them.`
  return `${lead} Write a test that fails without your change and passes with it.`
}

/** An `--until` command that passes before any work. */
export function alreadyDone(checks: readonly string[]): string {
  return `${named(checks)} already ${checks.length === 1 ? 'passes' : 'pass'}, so there was nothing to do. To check other work with it, use --verify.`
}

export function blindSentence({ kind, path, words }: Finding): string {
  if (kind === 'unreadable') return `It is unknown whether the tests were changed: ${words}.`
  return `The checks pass, but could not be run in their original form: ${path} (${words}).`
}

export function redSentence(checks: readonly string[]): string {
  return `${named(checks)} failed before the loop began and ${checks.length === 1 ? 'passes' : 'pass'} now`
}

/** Follows "with the original tests and configuration". */
export function exceptAllowed(allowed: readonly unknown[]): string {
  return allowed.length > 0 ? ', except those that were allowed' : ''
}

export function brokenSentence(checks: readonly string[]): string {
  return `${redSentence(checks)}, but an earlier, unfinished loop may have broken ${checks.length === 1 ? 'it' : 'them'}, so this proves nothing; the only evidence that the task is done is the agent's claim.`
}

/** Changes that --may-change allows may be the only reason why these checks pass. */
export function excusedSentence(loop: Loop, checks: readonly string[], paths: readonly string[]): string {
  const lead = `The checks pass with this loop's changes to ${listed(paths)}, which --may-change allows.`
  if (checks.every((check) => trialOf(loop.tally, 'reversed', check) !== 'untried')) return lead
  return `${lead} ralph could not test whether they need the rest of its work: ${whyNot(loop, 'reversed')}`
}

/** These checks pass sealed, but do not fail with the original files, or were not tried there. */
export function vacuousSentence(loop: Loop, checks: readonly string[]): string {
  const passing = checks.filter((check) => ranOf(loop.tally, 'start', check)?.result === 'pass')
  if (passing.length > 0)
    return `In a clean copy, ${named(passing)} ${passing.length === 1 ? 'passes' : 'pass'} even with the original files, so the sealed run proves nothing.`
  return `ralph could not test whether ${named(checks)} ${checks.length === 1 ? 'fails' : 'fail'} with the original files in a clean copy, as before the loop began: ${whyNot(loop, 'start')}`
}

export function untilSentence(checks: readonly string[]): string {
  return `${named(checks)} ${checks.length === 1 ? 'passes' : 'pass'}, as requested.`
}

export function keptSentence({ spec, tally }: Loop): string {
  const checks = allChecks(spec)
  const red = checks.filter((check) => wasRed(tally, check))
  if (red.length > 0)
    return `${redSentence(red)}, but the changed tests or configuration may be the only reason, so this proves nothing.`
  if (!isBaselineKnown({ spec, tally }))
    return `${named(checks)} ${checks.length === 1 ? 'passes' : 'pass'}, but may have passed before; the only evidence that the task is done is the agent's claim.`
  return `${named(checks)} ${checks.length === 1 ? 'passes as it' : 'pass as they'} did before, so nothing broke; the only evidence that the task is done is the agent's claim.`
}

export function testedBefore({ spec, tally }: Loop): string {
  const checks = allChecks(spec)
  if (checks.some((check) => wasRed(tally, check))) return 'What failed before may pass only because of these tests;'
  return isBaselineKnown({ spec, tally }) ? 'The checks also passed before;' : 'The checks may also have passed before;'
}

function isBaselineKnown({ spec, tally }: Pick<Loop, 'spec' | 'tally'>): boolean {
  return allChecks(spec).every((check) => knownBefore(tally, check) || trialOf(tally, 'start', check) !== 'untried')
}

/** "54 tests before, 0 now", for any test runner. */
export function fewerTests(tally: Tally, ranNow: (check: string) => Ran | undefined, when = 'now'): string | undefined {
  for (const { check, tests } of [...(tally.before ?? []), ...(trialsOf(tally).start?.ran ?? [])]) {
    const ran = ranNow(check)
    if (tests !== undefined && ran && (ran.tests ?? 0) < tests)
      return `\`${check}\` ran ${count(tests, 'test')} before the loop began, but ${ran.tests === undefined ? `does not report how many ${when}` : `only ${ran.tests} ${when}`}.`
  }
  return undefined
}

export function whyNot({ spec, tally }: Loop, run: Run): string {
  if (spec.proof === 'off') return 'experiments are off (--proof off).'
  const trial = trialsOf(tally)[run]
  if (trial?.why !== undefined) return stopped(oneLine(trial.why))
  const control = trialsOf(tally).control
  if (control?.why !== undefined) return stopped(oneLine(control.why))
  const failing = control?.ran.find(({ result }) => result !== 'pass')
  return failing
    ? `\`${failing.check}\` also fails in a clean copy of the current files; it may need files that git ignores.`
    : 'a check timed out there.'
}

export function named(checks: readonly string[]): string {
  return checks.map((check) => `\`${check}\``).join(' and ')
}

const MOST_NAMED = 5

/** "your changes to a.test.ts", or for new files "files that you added: a.test.ts". */
export function changesTo(tally: Tally, paths: readonly string[], whose: 'you' | 'this loop'): string {
  const about = tally.findings.filter(({ path }) => paths.includes(path))
  const areNew = about.length > 0 && about.every(({ kind }) => kind === 'tests-added' || kind === 'means-added')
  if (areNew) return `files that ${whose} added: ${listed(paths)}`
  return `${whose === 'you' ? 'your' : "this loop's"} changes to ${listed(paths)}`
}

export function listed(paths: readonly string[]): string {
  if (paths.length === 0) return 'tests and configuration' // beyond those that were named
  const more = paths.length - MOST_NAMED
  return `${paths.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${count(more, 'other file')}` : ''}`
}
