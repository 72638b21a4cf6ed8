import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countFailures, firstFailure } from './failures.ts'

test.each<[runner: string, output: string, failures: number]>([
  ['node --test, TAP', '# tests 5\n# pass 3\n# fail 2\n# cancelled 0\n', 2],
  ['node --test, spec', 'ℹ tests 5\nℹ pass 3\nℹ fail 2\n', 2],
  ['vitest', ' Test Files  1 failed (1)\n      Tests  2 failed | 3 passed (5)\n', 2],
  ['jest', 'Test Suites: 1 failed, 1 total\nTests:       2 failed, 1 skipped, 3 passed, 6 total\n', 2],
  ['pytest', '=========== 2 failed, 3 passed in 0.12s ===========\n', 2],
  ['pytest with one', '=== short test summary info ===\nFAILED x.py::a\n====== 1 failed in 0.01s ======\n', 1],
  ['pytest -q', 'FAILED tests/a.py::b - assert 1 == 2\n1 failed in 0.22s\n', 1],
  ['pytest -q with others', '1 skipped, 2 failed, 3 passed, 1 warning in 61.22s (0:01:01)\n', 2],
  ['pytest -q that cannot load', '3 errors in 0.05s\n', 3],
  ['unittest', 'Ran 5 tests in 0.001s\n\nFAILED (failures=2, errors=1)\n', 2],
  ['cargo', 'test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n', 2],
  ['mocha', '  3 passing (10ms)\n  2 failing\n', 2],
  ['maven', '[ERROR] Tests run: 5, Failures: 2, Errors: 0, Skipped: 0\n', 2],
  ['surefire', 'Tests run: 5,  Failures: 2,  Errors: 0\n', 2],
  ['PHPUnit', 'FAILURES!\nTests: 5, Assertions: 9, Failures: 2.\n', 2],
  ['rspec', '5 examples, 2 failures\n', 2],
  ['rspec with one', '1 example, 1 failure\n', 1],
  ['minitest', '5 runs, 9 assertions, 2 failures, 0 errors, 0 skips\n', 2],
  ['go', '--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/sub (0.00s)\n--- PASS: TestB (0.00s)\nFAIL\n', 2],
  ['tsc', 'src/a.ts(1,1): error TS1\n\nFound 2 errors in the same file.\n', 2],
  ['tsc with one', 'Found 1 error in src/a.ts:3\n', 1],
  ['biome', 'Checked 40 files in 20ms.\nFound 2 errors.\n', 2],
  ['eslint', '\n✖ 3 problems (2 errors, 1 warning)\n', 3],
  ['a script of one’s own', 'suite: 3 passed, 2 failed\n', 2],
  ['several runs, of which the last counts', '# fail 5\nagain\n# fail 2\n', 2],
  ['colors', '\u001b[31m# fail 2\u001b[39m\n', 2],
  ['line ends of Windows', '# pass 1\r\n# fail 2\r\n', 2],
  ['nothing that failed', '# fail 0\n', 0],
])('%s', (_, output, failures) => {
  expect(countFailures(output)).toBe(failures)
})

test.each(['', 'all good', 'it failed', 'I fixed 3 failing tests', '2 failed attempts', 'error: exit 1'])(
  'prose gives no count: %s',
  (output) => {
    expect(countFailures(output)).toBeUndefined()
  },
)

test('any output is read quickly', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('Tests', ' ', '1', ',', 'failed', '=', '\n', 'a'), maxLength: 300 }),
      (output) => {
        countFailures(output)
      },
    ),
  )
  const startedAt = performance.now()
  for (const unit of ['Tests a b, ', '= ', 'FAILED (', '1 ', 'x']) countFailures(unit.repeat(65_536 / unit.length))
  expect(performance.now() - startedAt).toBeLessThan(2_000)
})

test.each<[runner: string, output: string, line: string | undefined]>([
  [
    'TAP',
    'TAP version 13\nok 1 - two.txt is there\nnot ok 2 - one.txt is missing\n  ---\n# fail 1\n',
    'not ok 2 - one.txt is missing',
  ],
  ['TAP with a plan', 'not ok 1 - later # TODO\nnot ok 2 - now\n', 'not ok 2 - now'],
  ['node --test, spec', '✔ a (1ms)\n✖ adds two numbers (1.2ms)\nℹ fail 1\n\n✖ failing tests:\n', '✖ adds two numbers'],
  [
    'vitest',
    ' ❯ a.test.ts (2 tests | 1 failed)\n   × adds 4ms\n FAIL  a.test.ts > adds\nAssertionError: expected 1 to be 2\n',
    '× adds',
  ],
  ['jest', 'FAIL ./a.test.js\n  ● sum › adds\n\n    expect(received).toBe(expected)\n', '● sum › adds'],
  [
    'pytest',
    'F\n=== FAILURES ===\nE   assert 1 == 2\nFAILED tests/a.py::b - assert 1 == 2\n1 failed in 0.22s\n',
    'FAILED tests/a.py::b - assert 1 == 2',
  ],
  ['unittest', '======\nFAIL: test_a (t.T.test_a)\n------\nFAILED (failures=1)\n', 'FAIL: test_a (t.T.test_a)'],
  [
    'cargo',
    'running 2 tests\ntest adds ... FAILED\ntest ok ... ok\ntest result: FAILED. 1 passed; 1 failed;\n',
    'test adds ... FAILED',
  ],
  ['rustc', 'error[E0425]: cannot find value `x`\n --> src/lib.rs:1:1\n', 'error[E0425]: cannot find value `x`'],
  ['go', '=== RUN TestA\n--- FAIL: TestA (0.00s)\n    a_test.go:5: got 1\nFAIL\n', '--- FAIL: TestA'],
  ['mocha', '  1 failing\n\n  1) sum\n       adds:\n     Error: no\n', '1) sum'],
  [
    'tsc',
    "src/a.ts(1,1): error TS2304: Cannot find name 'x'.\nFound 1 error.\n",
    "src/a.ts(1,1): error TS2304: Cannot find name 'x'.",
  ],
  [
    'eslint',
    '/p/a.js\n  1:5  error  x is not defined  no-undef\n\n✖ 1 problem\n',
    '1:5 error x is not defined no-undef',
  ],
  ['a script of one’s own', 'looking\none.txt is missing\n', 'one.txt is missing'],
  [
    'npm around a script',
    '> x@1.0.0 test\n> node t.js\n\none.txt is missing\nnpm error Lifecycle script `test` failed\nnpm error code 1\n',
    'one.txt is missing',
  ],
  [
    'an exception',
    'a.js:1\nboom()\n^\n\nReferenceError: boom is not defined\n    at x (a.js:1:1)\n\nNode.js v24.0.0\n',
    'ReferenceError: boom is not defined',
  ],
  ['colors', '\u001b[31mnot ok 1 - red\u001b[0m\n', 'not ok 1 - red'],
  ['only counts', '# tests 2\n# fail 1\n', undefined],
  ['nothing', '', undefined],
  ['nothing, in the words of ralph', '(no output; exit code 1)', undefined],
  ['rules', '=====\n-----\n', undefined],
])('%s: finds the line that says what failed', (_, output, line) => {
  expect(firstFailure(output)).toBe(line)
})

test('the result is always one line of the output', () => {
  fc.assert(
    fc.property(fc.string(), (output) => {
      const line = firstFailure(output)
      expect(line === undefined || !line.includes('\n')).toBe(true)
    }),
  )
})
