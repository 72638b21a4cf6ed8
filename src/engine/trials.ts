/** What is known for a proof: earlier results of the checks, experiments, and changes to the means of proof. */
import type { Finding, Ran, Run, Tally } from './loop.ts'

/** Whether a check failed before any work, so that its passing proves something. */
export function wasRed(tally: Tally, check: string): boolean {
  return beforeOf(tally, check) === 'red'
}

/** Experiments on another tree say nothing about this one, except those on the original files. */
export function trialsOf({ trials, tree = '' }: Tally): Trials {
  if (trials?.tree === tree) return trials
  return trials ? { ...ofStart(trials), tree } : { tree }
}

type Trials = NonNullable<Tally['trials']>

/** The one experiment that does not depend on what the agent does. */
export function ofStart({ tree, start }: Trials): Trials {
  return start ? { tree, start } : { tree }
}

export function ranOf(tally: Tally, run: Run, check: string): Ran | undefined {
  return trialsOf(tally)[run]?.ran.find((ran) => ran.check === check)
}

/** What an experiment says about a check: a failure where the current files fail too says nothing. */
export function trialOf(tally: Tally, run: Run, check: string): 'pass' | 'fail' | 'untried' {
  const ran = ranOf(tally, run, check)
  if (ran?.result === 'pass') return 'pass'
  return hasFailed(ran) && ranOf(tally, 'control', check)?.result === 'pass' ? 'fail' : 'untried'
}

export function hasFailed(ran: Ran | undefined): boolean {
  return ran?.result === 'fail' || ran?.result === 'broken'
}

export function knownBefore({ before = [] }: Tally, check: string): boolean {
  return before.some((ran) => ran.check === check && (ran.result === 'pass' || ran.result === 'fail'))
}

/** Unknown counts as passed, and so does a failure that went away by itself. */
function beforeOf(tally: Tally, check: string): 'red' | 'green' {
  if (tally.flaky?.includes(check)) return 'green'
  if (!knownBefore(tally, check)) return trialOf(tally, 'start', check) === 'fail' ? 'red' : 'green'
  return tally.before?.some((ran) => ran.check === check && ran.result === 'fail') ? 'red' : 'green'
}

/** Whether the means of proof are clearly unchanged, so that the checks themselves are a sealed run. */
export function isUntouched(tally: Tally): boolean {
  return !isTouched(tally) && excusedPaths(tally).length === 0 && blindFinding(tally) === undefined
}

/** Equal for equal changes to the means of proof. */
export function changesIn(findings: readonly Finding[]): string {
  const touched = findings.filter(({ kind }) => TOUCHED.has(kind) || kind === 'may-change')
  const changes = touched.map(({ kind, path, mark = '' }) => `${kind} ${path} ${mark}`)
  return changes.sort().join('\n')
}

/** Findings that nobody has allowed. A file changed again afterwards is not what the person allowed. */
export function openFindings({ findings, allowed = [] }: Tally): Finding[] {
  return findings.filter(({ path, mark }) => !allowed.some((one) => one.path === path && one.mark === mark))
}

type Allowed = NonNullable<Tally['allowed']>

/** Adds these paths, as they were when the checks saw them. */
export function withAllowed(tally: Tally, paths: readonly string[], by: string): Allowed {
  const marks = new Map<string, Allowed[number]>()
  for (const { path, mark } of touchedFindings(tally).filter((one) => paths.includes(one.path)))
    marks.set(`${path} ${mark}`, { path, by, ...(mark === undefined ? {} : { mark }) })
  return [...(tally.allowed ?? []).filter(({ path }) => !paths.includes(path)), ...marks.values()]
}

/** What a person allowed and nobody has changed since. */
export function allowedNow(tally: Tally): Allowed {
  const open = touchedPaths(tally)
  return (tally.allowed ?? []).filter(({ path }) => !open.includes(path))
}

/**
 * Changed means that a sealed run leaves alone; without a finding, it is unknown whether they are still what was
 * allowed.
 */
export function unsealedPaths(tally: Tally): string[] {
  const touched = tally.findings.filter(({ kind }) => TOUCHED.has(kind))
  const paths = allowedNow(tally).map(({ path }) => path)
  return [...new Set(paths)].filter((path) => touched.some((one) => one.path === path))
}

/** Findings that hide the means of proof, so that no better grade is possible. */
const BLIND: ReadonlySet<Finding['kind']> = new Set(['unreadable', 'runner-changed', 'not-separable'])

const TOUCHED: ReadonlySet<Finding['kind']> = new Set([
  'tests-changed',
  'tests-deleted',
  'tests-added',
  'tests-skipped',
  'means-changed',
  'means-deleted',
  'means-added',
])

/**
 * Means of proof that were changed, removed or bypassed. Additions, earlier changes and allowed changes weaken nothing.
 */
const WEAKENED: ReadonlySet<Finding['kind']> = new Set([
  'tests-changed',
  'tests-deleted',
  'tests-skipped',
  'means-changed',
  'means-deleted',
  'runner-changed',
  'fewer-tests',
])

export function isWeakened(findings: readonly Finding[]): boolean {
  return findings.some(({ kind }) => WEAKENED.has(kind))
}

export function blindFinding(tally: Tally): Finding | undefined {
  return openFindings(tally).find(({ kind }) => BLIND.has(kind))
}

export function isTouched(tally: Tally): boolean {
  return tally.findings.some(({ kind }) => TOUCHED.has(kind))
}

/** Means of proof changed as --may-change allows, without duplicates. */
export function excusedPaths({ findings }: Pick<Tally, 'findings'>): string[] {
  return [...new Set(findings.flatMap(({ kind, path }) => (kind === 'may-change' ? [path] : [])))]
}

/** What experiments are about and nobody has allowed. */
function touchedFindings(tally: Tally): Finding[] {
  return openFindings(tally).filter(({ kind }) => TOUCHED.has(kind))
}

/** Their paths, without duplicates. */
export function touchedPaths(tally: Tally): string[] {
  return [...new Set(touchedFindings(tally).map(({ path }) => path))]
}
