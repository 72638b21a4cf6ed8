import { expect, test } from 'vitest'
import type { Ran } from '../../engine/loop.ts'
import type { FoundProof } from '../../operations/get-proof.ts'
import { printProof } from './proof-view.ts'
import { openScreen } from './screen.test-support.ts'

const check = 'npm test'
const pass: Ran = { check, result: 'pass', tests: 3 }
const tree = 'abcdef0123456789abcdef0123456789abcdef01'

const proven: FoundProof = {
  loop: 'a1',
  status: 'completed',
  grade: 'verified',
  sentence: '`npm test` failed before the loop began and passes now.',
  experiments: 'full',
  dir: '/home/shop',
  iterations: 2,
  at: Date.UTC(2026, 0, 5, 9),
  seen: { tree, head: tree, commit: tree },
  start: { tree, head: tree },
  checks: [
    {
      check,
      before: { check, result: 'fail', failures: 2 },
      after: pass,
      sealed: pass,
      reversed: { check, result: 'fail', red: 'load' },
    },
  ],
  findings: [{ kind: 'tests-changed', path: 'a.test.js', words: 'was changed' }],
  allowed: [{ path: 'b.test.js', by: 'ada' }],
  flaky: [],
}

const shown = (proof: FoundProof) => printProof(proof, openScreen().context.out)

test('one row per check, then the sentence, the findings, and the files', () => {
  expect(shown(proven)).toBe(`loop a1 · proof: verified

check     before              now               sealed            reversed
npm test  fails (2 failures)  passes (3 tests)  passes (3 tests)  fails to load
sealed: the current work with the original tests and configuration, except those that were allowed
reversed: the original sources with the current tests and configuration

\`npm test\` failed before the loop began and passes now.

  ! ralph noticed: a.test.js: was changed
  b.test.js: changes allowed by ada
  checked: tree abcdef012345, commit abcdef012345, 2026-01-05 09:00 UTC, after 2 iterations
  start:   tree abcdef012345, uncommitted, on top of abcdef012345
`)
})

test('the reason why something was not tried appears once', () => {
  const why = 'the place could not be made'
  const one = { check, before: pass, after: pass, sealed: { check, why } }
  const text = shown({
    ...proven,
    grade: 'altered',
    advice: 'For a better grade, restore a.test.js.',
    checks: [one, { ...one, check: 'npm run lint' }],
  })
  expect(text).toMatch(/^npm test +passes \(3 tests\) +passes \(3 tests\) +not tried$/m)
  expect(text.split(`not tried (sealed): ${why}`)).toHaveLength(2)
  expect(text.trimEnd().split('\n').at(-1)).toBe('For a better grade, restore a.test.js.')
})

test('a loop without a grade says so and shows the last check results', () => {
  const { grade: _, ...open } = proven
  const text = shown({
    ...open,
    status: 'running',
    require: 'tested',
    sentence: 'running after 2 iterations in /home/shop.',
    stale: true,
    flaky: [check],
    checks: [
      {
        check,
        before: { check, result: 'timeout' },
        start: { check, result: 'fail' },
        after: { check, result: 'broken' },
      },
    ],
  })
  expect(text).toMatch(/^loop a1 · no grade · required: tested$/m)
  expect(text).toMatch(/^npm test +fails, tried later +cannot start$/m)
  expect(text).toContain('the files have changed since the checks ran')
  expect(text).toContain('npm test is flaky')
})

test('without a check there is no table', () => {
  const text = shown({ ...proven, grade: 'claimed', checks: [], seen: { tree: '0123456789abcdef' }, older: true })
  expect(text).toContain('loop a1 · proof: claimed, graded by an older version of ralph')
  expect(text).toContain("No check: nothing proves the agent's claim.")
  expect(text).not.toContain('checked:')
})
