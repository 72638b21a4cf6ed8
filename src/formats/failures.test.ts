import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countFailures } from './failures.ts'

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
  ['colours', '\u001b[31m# fail 2\u001b[39m\n', 2],
  ['line ends of Windows', '# pass 1\r\n# fail 2\r\n', 2],
  ['nothing that failed', '# fail 0\n', 0],
])('%s', (_, output, failures) => {
  expect(countFailures(output)).toBe(failures)
})

test.each(['', 'all good', 'it failed', 'I fixed 3 failing tests', '2 failed attempts', 'error: exit 1'])(
  'prose names no number: %s',
  (output) => {
    expect(countFailures(output)).toBeUndefined()
  },
)

test('any output is read in little time', () => {
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
