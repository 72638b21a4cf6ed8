/** Reads from a test runner's output how many tests ran. */

type Count = readonly [line: RegExp, count: (match: RegExpExecArray) => number]

const number = (text: string | undefined) => Number(text ?? 0)

/** Sums "3 passed, 1 failed | 2 skipped", counting only tests that ran. */
function ran(text = ''): number {
  const counted = text.matchAll(/(\d+) (?:passed|failed|xpassed|xfailed|errors?)\b/g)
  return [...counted].reduce((sum, [, n]) => sum + number(n), 0)
}

const COUNTS: readonly Count[] = [
  [/^\s*Tests {2,}(no tests|.*?)(?: \(\d+\))?$/gm, ([, text]) => ran(text)], // vitest
  [/^Tests:\s+(.*\d+ total)$/gm, ([, text]) => ran(text)], // jest
  [/^(?:No tests? (?:files? )?found|no tests ran|Error: No test files found)\b/gm, () => 0],
  [/^[#ℹ] (?:pass|fail) (\d+)\s*$/gm, ([, n]) => number(n)], // node --test
  [/^# \{ total: \d+, (?:pass: (\d+))?(?:,? ?fail: (\d+))?/gm, ([, pass, fail]) => number(pass) + number(fail)], // tap
  [/^\s+(\d+) (?:passing|failing)\b/gm, ([, n]) => number(n)], // mocha
  [/^\s+(\d+) tests? (?:passed|failed)\s*$/gm, ([, n]) => number(n)], // ava
  [/^(?:=+ )?((?:\d+ [a-z]+(?: [a-z]+)?,? ?)+) in [\d.]+s\b/gm, ([, text]) => ran(text)], // pytest
  [/^=+ no tests ran in /gm, () => 0],
  [
    /^Ran (\d+) tests? in [^\n]*\n+(?:(?:OK|FAILED)(?: \(.*?(?:skipped=(\d+))?\))?$)?/gm,
    ([, n, skipped]) => number(n) - number(skipped),
  ], // unittest
  [/^test result: \w+\. (\d+) passed; (\d+) failed/gm, ([, pass, fail]) => number(pass) + number(fail)], // cargo
  [/^\s*Summary \[.*?\] +(\d+)(?:\/\d+)? tests? run:/gm, ([, n]) => number(n)], // cargo nextest
  [/^(?:ok|FAILED) \| (\d+) passed.*?\| (\d+) failed/gm, ([, pass, fail]) => number(pass) + number(fail)], // deno
  [/^\s*--- (?:PASS|FAIL): /gm, () => 1], // go test -v
  [/^(\d+) examples?, \d+ failures?(?:, (\d+) pending)?/gm, ([, n, pending]) => number(n) - number(pending)], // rspec
  [/^(\d+) runs, \d+ assertions, \d+ failures, \d+ errors, (\d+) skips/gm, ([, n, skips]) => number(n) - number(skips)], // minitest
  [/^OK \((\d+) tests?, \d+ assertions?\)/gm, ([, n]) => number(n)], // PHPUnit
  [/^Tests: (\d+), Assertions: \d+(?:.*?Skipped: (\d+))?/gm, ([, n, skipped]) => number(n) - number(skipped)], // PHPUnit
  [
    /^(?:\[\w+\] )?Tests run: (\d+), Failures: \d+, Errors: \d+, Skipped: (\d+)(?!.*Time elapsed)/gm,
    ([, n, skipped]) => number(n) - number(skipped),
  ], // surefire
  [/^(\d+) tests completed(?:, \d+ failed)?(?:, (\d+) skipped)?/gm, ([, n, skipped]) => number(n) - number(skipped)], // gradle
  [/^\[ +(\d+) tests (?:successful|failed) +\]/gm, ([, n]) => number(n)], // JUnit's own console
  [/^(?:Passed|Failed)! +- Failed: +(\d+), Passed: +(\d+)/gm, ([, fail, pass]) => number(fail) + number(pass)], // dotnet
  [/^Files=\d+, Tests=(\d+),/gm, ([, n]) => number(n)], // prove
  [
    /^\s*(?:\d+ (?:doctests?|properties), )?(\d+) tests?, \d+ failures?(?:, (\d+) (?:skipped|excluded))?/gm,
    ([, n, skipped]) => number(n) - number(skipped),
  ], // ExUnit, bats
  [/^\s+(\d+) (?:passed \([\d.hms]+\)|failed$)/gm, ([, n]) => number(n)], // playwright
  [/^\s*(\d+) (?:pass|fail)$/gm, ([, n]) => number(n)], // bun
  [/^\s*Executed (\d+) tests?, with .*? \([\d.]+\)/gm, ([, n]) => number(n)], // XCTest
  [/^\d+% tests passed, \d+ tests? failed out of (\d+)/gm, ([, n]) => number(n)], // ctest
]

/** Passed and failed tests, not skipped ones, of all runs in the output; undefined if unknown. */
export function countTests(output: string): number | undefined {
  const text = withoutColors(output)
  let found: number | undefined
  for (const [line, count] of COUNTS)
    for (const match of text.matchAll(line)) found = (found ?? 0) + Math.max(0, count(match))
  return found ?? countLines(text)
}

/** Plain TAP has no summary; AVA lists passed tests only one by one if another failed. */
function countLines(text: string): number | undefined {
  if (!/^1\.\.\d+/m.test(text)) return undefined
  return text.match(/^(?:not )?ok \d+\b(?!.*# (?:SKIP|TODO))/gim)?.length ?? 0
}

export function withoutColors(output: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors start with one
  return output.replace(/\u001b\[[0-9;]*m/g, '').replaceAll('\r\n', '\n')
}
