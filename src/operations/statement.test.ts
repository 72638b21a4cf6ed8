import { expect, test } from 'vitest'
import type { Ran } from '../engine/loop.ts'
import type { FoundProof } from './get-proof.ts'
import { buildStatement, printStatement } from './statement.ts'

const TREE = 'a'.repeat(40)
const COMMIT = 'b'.repeat(40)
const pass: Ran = { check: 'npm test', result: 'pass', tests: 3 }

const proven: FoundProof = {
  loop: 'a1',
  status: 'completed',
  grade: 'verified',
  sentence: '`npm test` failed before the loop began and passes now.',
  experiments: 'full',
  dir: '/home/ada/shop',
  iterations: 2,
  at: Date.UTC(2026, 0, 5, 9),
  seen: { tree: TREE, head: COMMIT, commit: COMMIT },
  start: { tree: 'c'.repeat(40), head: 'd'.repeat(40) },
  checks: [
    {
      check: 'npm test',
      before: { check: 'npm test', result: 'fail', failures: 2 },
      after: pass,
      sealed: pass,
      reversed: { check: 'npm test', why: 'not run' },
    },
  ],
  findings: [{ kind: 'tests-changed', path: 'a.test.js', words: 'was changed' }],
  allowed: [],
  flaky: [],
}

test('a proof is an in-toto statement about the files that the checks saw', () => {
  expect(buildStatement(proven)).toEqual({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: 'shop', digest: { gitTree: TREE, gitCommit: COMMIT } }],
    predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
    predicate: {
      result: 'PASSED',
      configuration: [
        {
          name: 'npm test',
          digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
        },
        { name: 'tests and configuration of the start', digest: { gitTree: 'c'.repeat(40) } },
      ],
      passedTests: ['npm test'],
      warnedTests: [],
      failedTests: [],
      ralph: {
        loop: 'a1',
        status: 'completed',
        grade: 'verified',
        sentence: proven.sentence,
        older: false,
        require: null,
        experiments: 'full',
        iterations: 2,
        checkedAt: '2026-01-05T09:00:00.000Z',
        head: COMMIT,
        checks: [
          {
            check: 'npm test',
            before: { result: 'fail', failures: 2 },
            after: { result: 'pass', tests: 3 },
            start: null,
            sealed: { result: 'pass', tests: 3 },
            reversed: { why: 'not run' },
            control: null,
          },
        ],
        findings: proven.findings,
        allowed: [],
        flaky: [],
      },
    },
  })
})

test('a commit that does not contain exactly these files is not a subject', () => {
  const seen = { tree: TREE, head: COMMIT }
  expect(buildStatement({ ...proven, seen }).subject).toEqual([{ name: 'shop', digest: { gitTree: TREE } }])
  const folder = buildStatement({ ...proven, seen: { tree: '0123456789abcdef' } })
  expect(folder.subject).toEqual([{ name: 'shop', digest: { ralphFolder: '0123456789abcdef' } }])
})

test('the same proof yields the same text, whatever the order of its fields', () => {
  const reversed = Object.fromEntries(Object.entries(proven).reverse()) as FoundProof
  const shuffled = { ...reversed, checks: [{ ...proven.checks[0], check: 'npm test', after: { tests: 3, ...pass } }] }
  expect(printStatement(shuffled)).toBe(printStatement(proven))
  expect(printStatement(proven).split('\n')).toHaveLength(2)
})

const { grade: _, ...ungraded } = proven
const failed: Ran = { check: 'npm test', result: 'fail' }

test.each<[story: string, proof: FoundProof, result: string, tests: string]>([
  ['verified', proven, 'PASSED', 'passedTests'],
  ['kept', { ...proven, grade: 'kept' }, 'PASSED', 'passedTests'],
  ['altered', { ...proven, grade: 'altered' }, 'WARNED', 'warnedTests'],
  ['graded by an older ralph', { ...proven, older: true }, 'WARNED', 'warnedTests'],
  ['flaky', { ...proven, flaky: ['npm test'] }, 'WARNED', 'warnedTests'],
  ['not complete, though the check passes', ungraded, 'FAILED', 'warnedTests'],
  ['failing', { ...ungraded, checks: [{ check: 'npm test', after: failed }] }, 'FAILED', 'failedTests'],
])('a proof that is %s', (_, proof, result, tests) => {
  const { predicate } = buildStatement(proof)
  expect(predicate).toMatchObject({
    result,
    passedTests: [],
    warnedTests: [],
    failedTests: [],
    [tests]: ['npm test'],
  })
})

test('no check is a warning, and a check that never ran after the work is not a pass', () => {
  expect(buildStatement({ ...proven, grade: 'claimed', checks: [] }).predicate.result).toBe('WARNED')
  expect(buildStatement({ ...proven, checks: [{ check: 'npm test' }] }).predicate.result).toBe('FAILED')
})
