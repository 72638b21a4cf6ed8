/** A proof as an in-toto statement for other tools: which checks passed on which files. */
import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { Grade, Run } from '../engine/loop.ts'
import type { Files, FoundProof, ProvenCheck } from './get-proof.ts'

/** in-toto Statement v1 with the predicate test-result v0.1. */
export type Statement = {
  _type: 'https://in-toto.io/Statement/v1'
  subject: Resource[]
  predicateType: 'https://in-toto.io/attestation/test-result/v0.1'
  predicate: {
    result: 'PASSED' | 'WARNED' | 'FAILED'
    configuration: Resource[]
    passedTests: string[]
    warnedTests: string[]
    failedTests: string[]
    /** Fields specific to ralph. */
    ralph: object
  }
}

type Resource = { name: string; digest: Record<string, string> }

/** One line. The same proof always yields the same text, so that it can be signed. */
export function printStatement(proof: FoundProof): string {
  return `${JSON.stringify(buildStatement(proof))}\n`
}

export function buildStatement(proof: FoundProof): Statement {
  const { checks, start } = proof
  const named = (wanted: Rating) => checks.filter((one) => rate(proof, one) === wanted).map(({ check }) => check)
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: proof.seen ? [{ name: basename(proof.dir), digest: digestOf(proof.seen) }] : [],
    predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
    predicate: {
      result: resultOf(proof),
      configuration: [
        ...checks.map(({ check }) => ({ name: check, digest: { sha256: sha256(check) } })),
        ...(start ? [{ name: 'tests and configuration of the start', digest: digestOf(start) }] : []),
      ],
      passedTests: named('passed'),
      warnedTests: named('warned'),
      failedTests: named('failed'),
      ralph: ownWords(proof),
    },
  }
}

type Rating = 'passed' | 'warned' | 'failed' | 'unknown'

/** Every doubt is a warning: a tool that accepts only PASSED must never accept too much. */
function rate({ grade, older, flaky }: FoundProof, { check, after }: ProvenCheck): Rating {
  if (!after) return 'unknown'
  if (after.result !== 'pass') return 'failed'
  return grade === undefined || older || DOUBTFUL.has(grade) || flaky.includes(check) ? 'warned' : 'passed'
}

const DOUBTFUL: ReadonlySet<Grade> = new Set(['altered', 'claimed'])

function resultOf(proof: FoundProof): Statement['predicate']['result'] {
  const ratings = proof.checks.map((check) => rate(proof, check))
  if (proof.grade === undefined || ratings.some((one) => one === 'failed' || one === 'unknown')) return 'FAILED'
  return ratings.length > 0 && ratings.every((one) => one === 'passed') ? 'PASSED' : 'WARNED'
}

/** Names a commit only if it contains exactly these files. Without git, there is nothing other tools can verify. */
function digestOf({ tree, commit }: Files): Record<string, string> {
  if (!isGitTree(tree)) return { ralphFolder: tree }
  return { gitTree: tree, ...(commit === undefined ? {} : { gitCommit: commit }) }
}

/** Whether a tree is a git object, not just the fingerprint of a folder. */
export function isGitTree(tree: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(tree)
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

const RUNS: readonly Run[] = ['start', 'sealed', 'reversed', 'control']

/** Listed explicitly, so that the order of fields does not depend on how the loop was stored. */
function ownWords(proof: FoundProof): object {
  const { loop, status, grade, sentence, older, require, experiments, iterations, at, seen, findings, allowed } = proof
  return {
    loop,
    status,
    grade: grade ?? null,
    sentence,
    older: older ?? false,
    require: require ?? null,
    experiments,
    iterations,
    checkedAt: at === undefined ? null : new Date(at).toISOString(),
    head: seen?.head ?? null,
    checks: proof.checks.map((one) => ({
      check: one.check,
      before: ordered(one.before),
      after: ordered(one.after),
      ...Object.fromEntries(RUNS.map((run) => [run, ordered(one[run])])),
    })),
    findings: findings.map(({ kind, path, words }) => ({ kind, path, words })),
    allowed: allowed.map(({ path, by }) => ({ path, by })),
    flaky: proof.flaky,
  }
}

const FIELDS = ['result', 'failures', 'tests', 'red', 'why'] as const

function ordered(ran: Partial<Record<(typeof FIELDS)[number], string | number>> | undefined): object | null {
  if (!ran) return null
  return Object.fromEntries(FIELDS.flatMap((name) => (ran[name] === undefined ? [] : [[name, ran[name]]])))
}
