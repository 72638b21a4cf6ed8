/** Finds lines that weaken a check: skipped or excluded tests, assertions that always hold, swallowed failures. */

/** How the new lines weaken the proof, as short phrases; empty if not at all. `isScript`: shell patterns count too. */
export function findWeakenings(lines: readonly string[], isScript: boolean): string[] {
  const patterns = isScript ? [...SKIPS, ...SWALLOWS] : SKIPS
  const found = lines.flatMap((line) => patterns.flatMap(([pattern, words]) => say(pattern.exec(line), words)))
  return [...new Set(found)]
}

function say(match: RegExpExecArray | null, words: string): string[] {
  return match ? [words.replace('$', match[0].replace(/\s+/g, ' ').trim().slice(0, 40))] : []
}

const VALUE = String.raw`(true|True|false|False|null|None|\d+|'[^']*'|"[^"]*")`

const SKIPS: readonly (readonly [RegExp, string])[] = [
  [
    /\b(it|test|describe|suite|context|specify|bench)(\.\w+)*\.(skip|only|todo|skipIf|runIf|fails|failing|concurrent\.skip)\b/,
    '`$` was added',
  ],
  [/(?<![.\w])[xf](it|describe|test|context|specify)\s*\(/, '`$` was added'],
  [/\bthis\.skip\(\)|\bt\.(skip|todo)\(|\{\s*(skip|todo|only)\s*:\s*(true|['"`])|\.pend(ing)?\(\)/, '`$` was added'],
  [
    /@?pytest\.(mark\.)?(skip|skipif|xfail|importorskip)\b|@?unittest\.(skip\w*|expectedFailure)\b|\bself\.skipTest\b|\bSkipTest\b/,
    '`$` was added',
  ],
  [/\b[tb]\.Skip(Now|f)?\(|testing\.Short\(\)/, '`$` was added'],
  [/#\[ignore\b|#\[should_panic\b|#!?\[cfg\((any\(\)|not\(test\)|FALSE|false)\)/, '`$` was added'],
  [
    /@(Disabled|Ignore|Ignored)\b|\[(Ignore|Fact\(Skip|Theory\(Skip)|XCTSkip|markTestSkipped|markTestIncomplete|@tag\s*:?skip|\bpending\b\s*(do|['"(])/,
    '`$` was added',
  ],
  [
    /\b(collect_ignore(_glob)?|__test__\s*=\s*False|testPathIgnorePatterns|modulePathIgnorePatterns|norecursedirs|passWithNoTests|coveragePathIgnorePatterns)\b|--(ignore|deselect|exclude|passWithNoTests|pass-with-no-tests|no-run|testNamePattern|test-name-pattern|testPathIgnorePatterns|allow-no-tests)\b/,
    '`$` was added',
  ],
  [/^\s*["']?(exclude|ignore|ignorePatterns|excludes|omit)["']?\s*[:=]/, '`$` was added'],
  [
    /\b(autotests|test|doctest|harness)\s*=\s*false\b|<skip(Tests)?>\s*true|maven\.test\.skip|testFailureIgnore|ignoreFailures\s*=?\s*true|skipTests/,
    '`$` was added',
  ],
  [/\bcontinue-on-error:\s*true|\ballow_failure:\s*true/, '`$` was added'],
  [
    /\b(process|os|sys|System)\s*\.\s*_?exit\s*\(\s*0?\s*\)|\bstd::process::exit\(0\)|\bos\.Exit\(0\)|\bprocess\.exitCode\s*=\s*0\b/,
    '`$` was added',
  ],
  [
    new RegExp(
      String.raw`\bexpect\(\s*${VALUE}\s*\)\s*\.\s*(toBe|toEqual|toStrictEqual|to\.equal|to\.be|to\.eql)\(\s*\1\s*\)`,
    ),
    '`$` always holds',
  ],
  [/\bexpect\(\s*(true|1|!0)\s*\)\s*\.\s*(toBeTruthy|toBeDefined|to\.be\.(true|ok)|to\b)/, '`$` always holds'],
  [
    /\bassert(\.ok|\.isTrue|True|_true)?!?\s*\(\s*(true|True|1)\s*[,)]|\bassertFalse\(\s*(false|False)\s*[,)]|\bassert\s+(True|1|not False)\s*($|[,#])/,
    '`$` always holds',
  ],
  [
    new RegExp(
      String.raw`\b(assert_eq!|assert\.(?:strict|deep|deepStrict)?[eE]qual|(?:self\.)?assertEquals?|assert_equal)\s*\(?\s*${VALUE}\s*,\s*\2\s*[,)]`,
    ),
    '`$` always holds',
  ],
]

const SWALLOWS: readonly (readonly [RegExp, string])[] = [
  [/\|\|\s*(true|:|exit 0|echo\b[^|&;]*)(?=\s|$|["';)])/, '`$` swallows a failure'],
  [/(^|[\s;&"'{])exit 0\b/, '`$` was added'],
  [/\bset \+e\b|\bset \+o (errexit|pipefail)\b|\btrap\b.*\bexit 0/, '`$` was added'],
  [/^\t-(?!-)/, 'a recipe ignores a failure'],
]

const ASSERTION =
  /\brequire\.[A-Z]|\b(expect|assert\w*|should|must\w*|XCTAssert\w*|Assert)\b\s*[.!(]|\bassert\s|\bt\.(Error|Fatal|is|deepEqual|true|false|throws)\w*\(|\.should\b|\btest -|\[ .* \]|\bgrep -q|\bdiff\b|\bcmp\b/

export function countAssertions(text: string): number {
  return text.split('\n').filter((line) => ASSERTION.test(line) && !/^\s*(\/\/|#|\*|import\b|from\b)/.test(line)).length
}
