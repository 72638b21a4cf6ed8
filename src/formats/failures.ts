/** How many failures a test runner's output tells of. */

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

/** The last count the output names; undefined when it names none. */
export function countFailures(output: string): number | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  const text = output.replace(/\u001b\[[0-9;]*m/g, '')
  for (const pattern of COUNTS) {
    const last = [...text.matchAll(pattern)].at(-1)
    if (last) return Number(last[1])
  }
  return text.match(GO_FAILURE)?.length
}
