import { describe, expect, test } from 'vitest'
import type { Finding, Loop, Run } from '../engine/loop.ts'
import {
  checkedByTests,
  checks,
  claims,
  loopAfter,
  noticed,
  specOf,
  unchecked,
} from '../engine/stories.test-support.ts'
import {
  beforeLines,
  experimentLine,
  failedWords,
  findingLines,
  gradeFields,
  proofFields,
  provingWords,
  refusalWords,
} from './proof-words.ts'

const found = (kind: Finding['kind'], path: string, words = 'was changed'): Finding => ({ kind, path, words })

describe('findings', () => {
  test('are shown by kind, with their paths', () => {
    const findings = [
      found('tests-changed', 'a.test.ts'),
      found('means-added', 'vitest.config.ts'),
      found('tests-changed', 'b.test.ts'),
      found('tests-changed', 'a.test.ts'),
    ]
    expect(findingLines(findings)).toEqual([
      'changed tests: a.test.ts, b.test.ts',
      'added check scripts or configuration: vitest.config.ts',
    ])
  })

  test('that are many are counted', () => {
    const findings = [1, 2, 3, 4, 5, 6, 7].map((n) => found('tests-deleted', `${n}.test.ts`))
    expect(findingLines(findings)).toEqual([
      'deleted tests: 1.test.ts, 2.test.ts, 3.test.ts, 4.test.ts, 5.test.ts and 2 other files',
    ])
  })

  test.each<[Finding, string]>([
    [found('tests-skipped', 'a.test.ts', 'it.only'), 'skipped tests: a.test.ts: it.only'],
    [found('unreadable', '', 'the start is gone'), 'unknown: the start is gone'],
    [found('noted', '', 'tests were deleted: a.test.ts'), 'tests were deleted: a.test.ts'],
  ])('that need words have them: %j', (finding, line) => {
    expect(findingLines([finding])).toEqual([line])
  })
})

test('a check that took too long before any work says how long ralph waited', () => {
  const loop = loopAfter(checkedByTests)
  const work = { ...loop.spec.work, baselineMinutes: 0.33 }
  expect(beforeLines({ ...loop, spec: { ...loop.spec, work }, tally: { ...loop.tally, before: [] } })).toEqual([
    'before: no result for npm test (stopped after 20 seconds)',
  ])
})

test('checks without a baseline are not mentioned', () => {
  expect(beforeLines(loopAfter(unchecked))).toEqual([])
})

test('an experiment that could not run says why', () => {
  const { tally } = loopAfter(checkedByTests)
  expect(experimentLine({ kind: 'proved', at: 0, run: 'sealed', ran: [], why: 'there is no git' }, tally)).toBe(
    'sealed: could not run: there is no git',
  )
})

test('a sealed run leaves out what was allowed, and says so', () => {
  const findings = noticed('tests-changed', 'a.test.ts')
  const tally = { ...loopAfter(checkedByTests).tally, findings, allowed: [{ path: 'a.test.ts', by: 'Ada' }] }
  const line = (run: Run) =>
    experimentLine({ kind: 'proved', at: 0, run, ran: [{ check: 'npm test', result: 'pass' }] }, tally)
  expect(line('sealed')).toBe('sealed: npm test passes with the original tests, except those that were allowed')
  expect(line('reversed')).toBe("reversed: npm test passes without the agent's work")
  expect(provingWords({ kind: 'prove', run: 'sealed', checks: [], allowed: ['a.test.ts'], ms: 0 })).toBe(
    'proving: running the checks with the original tests, except those that were allowed',
  )
  expect(provingWords({ kind: 'prove', run: 'sealed', checks: [], allowed: [], ms: 0 })).toBe(
    'proving: running the checks with the original tests',
  )
})

test('a loop that continues for another reason was not refused', () => {
  const loop = loopAfter(checkedByTests, claims('clear'))
  expect(refusalWords(loop.tally, loopAfter(loop, checks('fail')))).toBeUndefined()
})

test('a proof that is too weak names the one that is required', () => {
  const loop = loopAfter(specOf({ require: 'tested' }))
  expect(refusalWords(loop.tally, { ...loop, tally: { ...loop.tally, unproven: 1 } })).toBe(
    'refused: its proof is weaker than "tested"',
  )
})

test('programs get the grade, sentence, findings, and the baseline', () => {
  const loop = loopAfter(checkedByTests, claims('clear'), checks('pass'))
  expect(proofFields(loop)).toEqual({
    proof: 'verified',
    proof_sentence: '`npm test` failed before the loop began and passes now.',
    findings: [],
    before: [{ check: 'npm test', result: 'fail' }],
  })
})

test('programs see which loops an older ralph judged', () => {
  const next: Loop['next'] = { kind: 'complete', proof: 'verified', sentence: 'It passed.', older: true }
  expect(gradeFields(next)).toEqual({ proof: 'verified', proof_sentence: 'It passed.', proof_older: true })
})

test.each([
  [
    [{ check: 'npm test', result: 'fail', failures: 1, tail: 'not ok 1 - one.txt is missing\n' }],
    'npm test fails: not ok 1 - one.txt is missing',
  ],
  [[{ check: 'npm test', result: 'fail', failures: 3, tail: '✖ adds (1ms)\n' }], 'npm test fails (3 failures): ✖ adds'],
  [[{ check: 'npm test', result: 'fail', failures: 1, tail: '' }], 'npm test fails (1 failure)'],
  [[{ check: 'slow', result: 'timeout', tail: 'half of it' }], 'slow timed out'],
  [[{ check: 'x', result: 'broken', tail: 'x: not found' }], 'x cannot be started: x: not found'],
  [[{ check: 'a', result: 'pass', tail: 'ok' }], ''],
  [[{ check: 'a', result: 'fail', tail: `${'x'.repeat(300)}\n` }], `a fails: ${'x'.repeat(119)}…`],
] as const)('why it is not done, in one line: %j', (verdicts, words) => {
  expect(failedWords(verdicts)).toBe(words)
})
