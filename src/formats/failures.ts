/** Reads failures from a test runner's output: how many, and the line about the first one. */

const COUNTS: readonly RegExp[] = [
  /^# fail (\d+)\s*$/gm, // node --test, TAP
  /^ℹ fail (\d+)\s*$/gm, // node --test, spec reporter
  /^\s*Tests:?\s+(?:\S+ \S+, )*?(\d+) failed/gm, // jest, vitest
  /^=+ .*?(\d+) failed.* =+$/gm, // pytest
  /^(?:=+ )?(?:\d+ [a-z]+, )*?(\d+) (?:failed|errors?)\b.* in [\d.]+s\b/gm, // pytest -q
  /^FAILED \((?:.*?)failures=(\d+)/gm, // unittest
  /^test result: FAILED\. \d+ passed; (\d+) failed/gm, // cargo
  /^\s*(\d+) failing\b/gm, // mocha
  /^(?:\[\w+\] )?Tests run: \d+, +Failures: (\d+)/gm, // surefire
  /^Tests: \d+, .*?\bFailures: (\d+)/gm, // PHPUnit
  /^\d+ (?:examples?|runs?), (?:\d+ assertions, )?(\d+) failures?/gm, // rspec, minitest
  /^(\d+) failed, \d+ passed/gm,
  /^(?:\w+: )?\d+ passed, (\d+) failed/gm,
  /^Found (\d+) errors?\b/gm, // tsc, biome
  /^✖ (\d+) problems?/gm, // eslint
]

const GO_FAILURE = /^\s*--- FAIL: /gm

/** The last count in the output; undefined if there is none. */
export function countFailures(output: string): number | undefined {
  const text = uncolored(output)
  for (const pattern of COUNTS) {
    const last = [...text.matchAll(pattern)].at(-1)
    if (last) return Number(last[1])
  }
  return text.match(GO_FAILURE)?.length
}

/** Patterns of lines that name a failed test or an error, best first. */
const NAMED: readonly RegExp[] = [
  /^not ok \d+(?!.*# (?:TODO|SKIP)\b)/i, // TAP
  /^FAILED \S+::/, // pytest
  /^(?:✖|✗|×|✘) (?!failing tests|\d+ problem)/, // node, vitest
  /^● /, // jest
  /^--- FAIL: /, // go
  /^(?:FAIL|ERROR): \S/, // unittest
  /^test .+ \.\.\. FAILED$/, // cargo
  /^\d+\) \S/, // mocha, rspec
  /\berror(?:\[\w+\]| TS\d+)?: |^\d+:\d+ error /i, // compilers, linters, exceptions
  /^\w*(?:Error|Exception)\b: ?\S/,
  /^E {2,}\S/, // pytest -q
]

/** Lines with only counts, frames or repetition. */
const SAYS_NOTHING =
  /^(?:[^\p{L}]*$|[#ℹ]|\(no output|> |npm (?:ERR!|error)|Node\.js v|at |Found \d+|FAIL$|FAILED \(|FAILED$|Tests? |test result|TAP version|make(?:\[\d+\])?: \*\*\*)|\d+ (?:failed|failing|passing|passed|errors?)\b/iu

/** Durations differ every time. */
const TIME = / \(?\d+(?:\.\d+)? ?m?s\)?$/

/** The first line that says what failed; if none does, the last line with any text. */
export function firstFailure(output: string): string | undefined {
  const lines = uncolored(output)
    .split(/[\r\n]+/)
    .map((line) =>
      line
        .replace(/[\s\p{Cc}]+/gu, ' ')
        .trim()
        .replace(TIME, ''),
    )
    .filter((line) => line !== '')
  for (const pattern of NAMED) {
    const found = lines.find((line) => pattern.test(line) && !/^npm (?:ERR!|error)/.test(line))
    if (found !== undefined) return found
  }
  return lines.findLast((line) => !SAYS_NOTHING.test(line))
}

function uncolored(output: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors start with one
  return output.replace(/\u001b\[[0-9;]*m/g, '')
}
