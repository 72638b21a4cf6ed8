/** Words about proof for every front: checks before any work, experiments, refused claims, findings, the grade. */
import { findingSentence } from '../engine/feedback.ts'
import { count } from '../engine/limits.ts'
import type { Fact, Finding, FindingKind, Grade, Loop, Next, Ran, Run, Tally, Verdict } from '../engine/loop.ts'
import { exceptAllowed, listed } from '../engine/proof-words.ts'
import { allChecks } from '../engine/stages.ts'
import { excusedPaths, touchedPaths, trialsOf, unsealedPaths } from '../engine/trials.ts'
import { firstFailure } from './failures.ts'
import { cutTo } from './one-line.ts'

/** The outcome of a check. */
export function ranWords({ check, result, failures }: Pick<Ran, 'check' | 'result' | 'failures'>): string {
  switch (result) {
    case 'pass':
      return `${check} passes`
    case 'fail':
      return failures ? `${check} fails (${count(failures, 'failure')})` : `${check} fails`
    case 'timeout':
      return `${check} timed out`
    case 'broken':
      return `${check} cannot be started`
  }
}

/** Why it is not done, in one line: which checks fail, each with the line that says why. */
export function failedWords(verdicts: readonly Verdict[]): string {
  return verdicts
    .filter(({ result }) => result !== 'pass')
    .map((verdict) => {
      const why = verdict.result === 'timeout' ? undefined : firstFailure(verdict.tail)
      if (why === undefined) return ranWords(verdict)
      return `${ranWords(verdict.failures === 1 ? { ...verdict, failures: 0 } : verdict)}: ${cutTo(why, REASON)}`
    })
    .join(', ')
}

const REASON = 120

/** The outcome of each check before any work; empty if there was no baseline. */
export function beforeLines({ spec, tally: { before } }: Loop): string[] {
  if (!before) return []
  const { checkMinutes, baselineMinutes = checkMinutes } = spec.work
  const minutes = Math.min(checkMinutes, baselineMinutes)
  return allChecks(spec).map((check) => {
    const ran = before.find((one) => one.check === check) ?? { check, result: 'timeout' as const }
    return `before: ${beforeWords(ran, minutes)}`
  })
}

function beforeWords(ran: Ran, minutes: number): string {
  switch (ran.result) {
    case 'pass':
      return `${ranWords(ran)}, so it can only show that nothing broke`
    case 'fail':
      return ranWords(ran)
    case 'broken':
      return `${ranWords(ran)} yet`
    case 'timeout': {
      const most = minutes < 1 ? count(Math.round(minutes * 60), 'second') : count(minutes, 'minute')
      return `no result for ${ran.check} (stopped after ${most})`
    }
  }
}

/** The same when it becomes known. If it ends the loop, the final sentence says it all. */
export function baselineLines(loop: Loop): string[] {
  return loop.next.kind === 'complete' ? [] : beforeLines(loop)
}

/** Whether a fact is the baseline. `before`: what the engine had asked for. */
export function isBaseline(fact: Fact, before: Next | undefined): boolean {
  return fact.kind === 'checked' && before?.kind === 'check' && before.because === 'start'
}

const PLACES: Readonly<Record<Run, string>> = {
  start: 'with the original files',
  sealed: 'with the original tests',
  reversed: "without the agent's work",
  control: 'in a clean copy',
}

/** What happens during an experiment. */
export function provingWords({ run, allowed }: Extract<Next, { kind: 'prove' }>): string {
  return `proving: running the checks ${PLACES[run]}${exceptIn(run, allowed)}`
}

export function experimentLine({ run, ran, why }: Extract<Fact, { kind: 'proved' }>, tally: Tally): string {
  if (why !== undefined) return `${run}: could not run: ${why}`
  return `${run}: ${ran.map(ranWords).join(', ')} ${PLACES[run]}${exceptIn(run, [...unsealedPaths(tally), ...excusedPaths(tally)])}`
}

/** Only a sealed run leaves allowed changes in place. */
export function exceptIn(run: Run, allowed: readonly unknown[]): string {
  return run === 'sealed' ? exceptAllowed(allowed) : ''
}

/** Why a claim was refused although its checks pass. `before`: the tally before it. */
export function refusalWords(before: Tally, { spec, tally }: Loop): string | undefined {
  const changes = `its changes to ${listed(touchedPaths(tally))}`
  if ((tally.bent ?? 0) > (before.bent ?? 0)) return `refused: only ${changes} make ${bentChecks(tally)} pass`
  if (tally.questioned && !before.questioned) return `asked whether ${changes} are needed`
  if ((tally.unproven ?? 0) > (before.unproven ?? 0)) return `refused: its proof is weaker than "${spec.require}"`
  return undefined
}

function bentChecks(tally: Tally): string {
  const { sealed, reversed } = trialsOf(tally)
  const bent = (reversed?.ran ?? [])
    .filter(({ result }) => result === 'pass')
    .map(({ check }) => check)
    .filter((name) => sealed?.ran.some(({ check, result }) => check === name && result !== 'pass'))
  return bent.join(', ') || 'the checks'
}

type Complete = Extract<Next, { kind: 'complete' }>

export function gradeWords({ proof, older }: Pick<Complete, 'proof' | 'older'>): string {
  return older ? `${proof} (by the rules of an older ralph)` : proof
}

/** What each grade means, for first-time readers. */
export const GRADE_MEANINGS: Readonly<Record<Grade, string>> = {
  verified: 'Verified: a check that failed before passes now.',
  tested: 'Tested: new tests fail without this work and pass with it.',
  kept: 'Kept: the checks pass as they did before, so nothing broke; only the agent says it is done.',
  altered: 'Altered: the checks pass, but tests or their configuration changed along the way.',
  claimed: 'Claimed: there was no check; only the agent says so.',
}

const KINDS: Readonly<Record<FindingKind, string>> = {
  'tests-changed': 'changed tests',
  'tests-deleted': 'deleted tests',
  'tests-added': 'added tests',
  'tests-skipped': 'skipped tests',
  'means-changed': 'changed check scripts or configuration',
  'means-deleted': 'deleted check scripts or configuration',
  'means-added': 'added check scripts or configuration',
  'may-change': 'changed, as --may-change allows',
  'runner-changed': 'changed programs that a check runs',
  'not-separable': 'may be tests or work',
  unreadable: 'unknown',
  inherited: 'changed before the loop began',
  'fewer-tests': 'fewer tests',
  flaky: 'flaky',
  noted: '',
}

/** Kinds whose paths alone say enough. */
const PLAIN: ReadonlySet<FindingKind> = new Set([
  'tests-changed',
  'tests-deleted',
  'tests-added',
  'means-changed',
  'means-deleted',
  'means-added',
  'may-change',
])

/** Findings by kind, one short line each. */
export function findingLines(findings: readonly Finding[]): string[] {
  const kinds = [...new Set(findings.map(({ kind }) => kind))]
  return kinds.flatMap((kind) => {
    const found = findings.filter((finding) => finding.kind === kind)
    if (kind === 'noted') return found.map(findingSentence)
    if (!PLAIN.has(kind)) return found.map((finding) => `${KINDS[kind]}: ${findingSentence(finding)}`)
    const unnamed = found.filter(({ path }) => path === '').map(({ words }) => `${KINDS[kind]}: ${words}`)
    const paths = [...new Set(found.map(({ path }) => path).filter(Boolean))]
    return [...(paths.length > 0 ? [`${KINDS[kind]}: ${listed(paths)}`] : []), ...unnamed]
  })
}

/** The proof of a loop, for programs. */
export type ProofFields = {
  proof: Grade | null
  proof_sentence: string | null
  /** It was judged by the rules of an older ralph. */
  proof_older?: true
  findings: Finding[]
  before: Pick<Ran, 'check' | 'result' | 'failures' | 'tests'>[]
}

export function proofFields({ next, tally }: Pick<Loop, 'next' | 'tally'>): ProofFields {
  return {
    ...gradeFields(next),
    findings: tally.findings,
    before: (tally.before ?? []).map(({ red: _, ...ran }) => ran),
  }
}

/** The part that is known without the tally. */
export function gradeFields(next: Next): Pick<ProofFields, 'proof' | 'proof_sentence' | 'proof_older'> {
  if (next.kind !== 'complete') return { proof: null, proof_sentence: null }
  return { proof: next.proof, proof_sentence: next.sentence, ...(next.older ? { proof_older: true } : {}) }
}
