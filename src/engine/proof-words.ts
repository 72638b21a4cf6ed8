/** The sentences of a proof: why it has its grade, and what would earn a better one. */
import { oneLine, stopped } from './breaker.ts'
import { count } from './limits.ts'
import type { Finding, Grade, Loop, Ran, Run, Tally } from './loop.ts'
import { allChecks } from './stages.ts'
import { knownBefore, ranOf, trialOf, trialsOf, wasRed } from './trials.ts'

/** What to do for a better proof. */
/** `excused`: tests were changed that --may-change names, which alone prove nothing. */
export function proofAdvice(
  { grade, sentence }: { grade: Grade; sentence: string },
  required: Grade,
  excused: boolean,
): string {
  const done = grade === 'claimed' ? 'You said it was done' : 'The checks pass'
  const lead = `${done}, but the proof is only "${grade}" and this task needs "${required}". ${sentence}`
  if (grade === 'claimed') return lead
  if (excused && grade === 'altered')
    return `${lead} Do the work, too: the tests that you changed must fail without it.`
  if (excused)
    return `${lead} Write a test that fails without your change and passes with it, in a file that --may-change does not name.`
  if (grade === 'altered')
    return `${lead} Put the tests and the configuration you changed back as they were, and make the checks pass with them.`
  return `${lead} Write a test that fails without your change and passes with it.`
}

/** `--until` that passes before any work. */
export function alreadyDone(checks: readonly string[]): string {
  return `${named(checks)} ${checks.length === 1 ? 'passes' : 'pass'} already, so there was nothing to do. To guard other work with it, use --verify.`
}

export function blindSentence({ kind, path, words }: Finding): string {
  if (kind === 'unreadable') return `Whether the tests were changed is unknown: ${words}.`
  return `The checks pass, but they could not be run as they were at the start: ${path} (${words}).`
}

export function redSentence(checks: readonly string[]): string {
  return `${named(checks)} failed before the loop began and ${checks.length === 1 ? 'passes' : 'pass'} now`
}

/** What follows "with the tests of the start". */
export function exceptAllowed(allowed: readonly unknown[]): string {
  return allowed.length > 0 ? ', except those that were allowed' : ''
}

export function brokenSentence(checks: readonly string[]): string {
  return `${redSentence(checks)}, but an unfinished loop before it may have broken ${checks.length === 1 ? 'it' : 'them'}, so it proves nothing; that the task is done is the agent's word.`
}

/** What --may-change lets stand may be all that makes these checks pass. */
export function excusedSentence(loop: Loop, checks: readonly string[], paths: readonly string[]): string {
  const lead = `The checks pass with what this loop changed in ${listed(paths)}, as --may-change allows.`
  if (checks.every((check) => trialOf(loop.tally, 'reversed', check) !== 'untried')) return lead
  return `${lead} Whether they need the rest of its work could not be tried: ${whyNot(loop, 'reversed')}`
}

/** With the files of the start these checks do not fail, or were not tried, where they pass sealed. */
export function vacuousSentence(loop: Loop, checks: readonly string[]): string {
  const passing = checks.filter((check) => ranOf(loop.tally, 'start', check)?.result === 'pass')
  if (passing.length > 0)
    return `In a clean copy ${named(passing)} ${passing.length === 1 ? 'passes' : 'pass'} even with the files of the start, so the sealed run shows nothing.`
  return `Whether ${named(checks)} ${checks.length === 1 ? 'fails' : 'fail'} with the files of the start in a clean copy, as before the loop began, could not be tried: ${whyNot(loop, 'start')}`
}

export function untilSentence(checks: readonly string[]): string {
  return `${named(checks)} ${checks.length === 1 ? 'passes' : 'pass'}, as was asked for.`
}

export function keptSentence({ spec, tally }: Loop): string {
  const checks = allChecks(spec)
  const red = checks.filter((check) => wasRed(tally, check))
  if (red.length > 0)
    return `${redSentence(red)}, but the changed tests or configuration may be the only reason, so it proves nothing.`
  if (!isBaselineKnown({ spec, tally }))
    return `${named(checks)} ${checks.length === 1 ? 'passes' : 'pass'}, but may have done so before; that the task is done is the agent's word.`
  return `${named(checks)} ${checks.length === 1 ? 'passes as it' : 'pass as they'} did before, so nothing broke; that the task is done is the agent's word.`
}

export function testedBefore({ spec, tally }: Loop): string {
  const checks = allChecks(spec)
  if (checks.some((check) => wasRed(tally, check))) return 'What failed before may pass only because of them;'
  return isBaselineKnown({ spec, tally }) ? 'The checks passed before, too;' : 'The checks may have passed before, too;'
}

function isBaselineKnown({ spec, tally }: Pick<Loop, 'spec' | 'tally'>): boolean {
  return allChecks(spec).every((check) => knownBefore(tally, check) || trialOf(tally, 'start', check) !== 'untried')
}

/** "54 tests before, 0 now" in any language. */
export function fewerTests(tally: Tally, ranNow: (check: string) => Ran | undefined, when = 'now'): string | undefined {
  for (const { check, tests } of [...(tally.before ?? []), ...(trialsOf(tally).start?.ran ?? [])]) {
    const ran = ranNow(check)
    if (tests !== undefined && ran && (ran.tests ?? 0) < tests)
      return `\`${check}\` ran ${count(tests, 'test')} before the loop began, and ${ran.tests === undefined ? `does not say how many ${when}` : `only ${ran.tests} ${when}`}.`
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
    ? `\`${failing.check}\` fails in a clean copy of the present files, too; it may need files that git ignores.`
    : 'a check ran out of time there.'
}

export function named(checks: readonly string[]): string {
  return checks.map((check) => `\`${check}\``).join(' and ')
}

const MOST_NAMED = 5

/** "changed in a.test.ts", or of files that were not there before: "added: a.test.ts". */
export function doneTo(tally: Tally, paths: readonly string[]): string {
  const about = tally.findings.filter(({ path }) => paths.includes(path))
  const areNew = about.length > 0 && about.every(({ kind }) => kind === 'tests-added' || kind === 'means-added')
  return `${areNew ? 'added:' : 'changed in'} ${listed(paths)}`
}

export function listed(paths: readonly string[]): string {
  if (paths.length === 0) return 'tests and configuration' // beyond those that were named
  const more = paths.length - MOST_NAMED
  return `${paths.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${count(more, 'other file')}` : ''}`
}
