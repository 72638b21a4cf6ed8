import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { redKind } from './red-kind.ts'
import { countTests } from './test-count.ts'

const recorded = (name: string) => readFileSync(`${import.meta.dirname}/fixtures/runs/${name}.txt`, 'utf8')

test.each<[run: string, tests: number | undefined, red?: 'assertion' | 'load']>([
  ['vitest', 2, 'assertion'],
  ['vitest-load', 0, 'load'],
  ['vitest-none', 0, 'load'],
  ['jest', 2, 'assertion'],
  ['jest-load', 0, 'load'],
  ['jest-none', 0, 'load'],
  ['node-spec', 3, 'assertion'],
  ['node-tap', 3, 'assertion'],
  ['node-load', 1, 'load'], // a file that cannot be loaded counts as one test that failed
  ['node-none', undefined],
  ['mocha', 2, 'assertion'],
  ['mocha-load', undefined, 'load'],
  ['ava', 1, 'assertion'], // those that passed are not in its summary when one failed
  ['ava-load', undefined, 'load'],
  ['pytest', 5, 'assertion'],
  ['pytest-q', 5, 'assertion'],
  ['pytest-load', 1, 'load'],
  ['pytest-none', 0],
  ['unittest', 2, 'assertion'],
  ['unittest-load', 1, 'load'],
  ['cargo', 2, 'assertion'],
  ['cargo-ok', 3],
  ['cargo-load', undefined, 'load'],
  ['prove', 3, 'assertion'],
])('%s, as recorded: %s tests', (run, tests, red) => {
  expect(countTests(recorded(run))).toBe(tests)
  if (red) expect(redKind(recorded(run))).toBe(red)
})

test.each<[output: string, tests: number | undefined]>([
  ['', undefined],
  ['all fine', undefined],
  ['ok  \texample.com/a\t0.01s\nok  \texample.com/b\t0.02s', undefined],
  [
    '=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    --- FAIL: TestB/x (0.00s)\n--- SKIP: TestC (0.00s)',
    2,
  ],
  ['5 examples, 1 failure, 1 pending', 4],
  ['7 runs, 9 assertions, 1 failures, 0 errors, 2 skips', 5],
  ['OK (12 tests, 30 assertions)', 12],
  ['Tests: 5, Assertions: 4, Failures: 1, Skipped: 2.', 3],
  [
    '[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in ATest\n[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 1',
    3,
  ],
  ['10 tests completed, 1 failed, 2 skipped', 8],
  ['[         3 tests successful      ]\n[         1 tests failed          ]', 4],
  ['Failed!  - Failed:     1, Passed:     3, Skipped:     1, Total:     5, Duration: 12 ms', 4],
  ['Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3', 3],
  ['1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP', 2],
  ['# { total: 5, pass: 4, fail: 1 }', 5],
  ['5 tests, 1 failure, 1 skipped', 4],
  ['  1 failed\n    a.spec.ts:3:1 › b\n  2 passed (1.5s)', 3],
  [' 3 pass\n 1 fail\nRan 4 tests across 1 file.', 4],
  ['  3 tests passed', 3],
  ['ok | 3 passed | 0 failed (12ms)', 3],
  ['\u001b[2m      Tests \u001b[22m \u001b[32m54 passed\u001b[39m\u001b[90m (54)\u001b[39m', 54],
  ['      Tests  2 passed (2)\n\n      Tests  3 passed (3)\n', 5],
  ['test result: ok. 2 passed; 0 failed; 0 ignored\ntest result: ok. 0 passed; 0 failed; 0 ignored\n', 2],
  ['============================ no tests ran in 0.01s =============================', 0],
  ['1 failed in 0.22s', 1],
  ['1 failed, 2 passed, 3 subtests passed in 0.22s', 3],
  ['Ran 0 tests in 0.000s\n\nOK', 0],
  ['Ran 3 tests in 0.000s\n\nOK (skipped=2)', 1],
])('%j: %s tests', (output, tests) => {
  expect(countTests(output)).toBe(tests)
})

test.each<[output: string, red: 'assertion' | 'load']>([
  ['', 'assertion'],
  ['sh: 1: vitest: not found', 'load'],
  ['bash: pytest: command not found', 'load'],
  ["src/a.ts(3,10): error TS2305: Module './b' has no exported member 'c'.", 'load'],
  ["SyntaxError: The requested module './a.js' does not provide an export named 'b'", 'load'],
  ["ImportError: cannot import name 'a' from 'b'", 'load'],
  ['./a_test.go:5:2: undefined: Add\nFAIL\texample.com/a [build failed]', 'load'],
  ['SyntaxError: Unexpected token\nAssertionError: 1 != 2', 'assertion'],
  ['TypeError: add is not a function', 'load'],
  ['--- FAIL: TestA (0.00s)\n    a_test.go:5: got 1, want 2', 'assertion'],
  ['make: *** No rule to make target `test`.  Stop.', 'load'],
  ['expected 3 but was 4', 'assertion'],
  ['[ERROR] COMPILATION ERROR :', 'load'],
])('%j is red by %s', (output, red) => {
  expect(redKind(output)).toBe(red)
})
