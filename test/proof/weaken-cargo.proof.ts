/** Ways to weaken the tests of a project that runs cargo test. */
import { type Row, weakens } from './rows.ts'

const inline = (from: string, to: string) => `sed -i 's/${from}/${to}/' src/lib.rs`
/** The test in its own folder does not get in the way of the row. */
const ALONE = { 'tests/whole.rs': '#[test]\nfn loads() {\n    let _ = sums::sum(1, 1);\n}\n' }

const rows: Row[] = [
  {
    name: 'edits the assertion of an inline test',
    files: ALONE,
    agent: inline('sum(2, 3), 5', 'sum(2, 3), -1'),
    ends: 'waits',
  },
  {
    name: 'removes an inline test',
    files: ALONE,
    agent: "sed -i '/fn adds() {/,/}/d' src/lib.rs; sed -i '0,/    #\\[test\\]/{/    #\\[test\\]/d}' src/lib.rs",
    ends: 'waits',
  },
  {
    name: 'ignores an inline test',
    files: ALONE,
    agent: inline('    fn adds() {', '    #[ignore]\\n    fn adds() {'),
    ends: 'waits',
  },
  {
    name: 'expects an inline test to panic',
    files: ALONE,
    agent: inline('    fn adds() {', '    #[should_panic]\\n    fn adds() {'),
    ends: 'waits',
  },
  {
    name: 'compiles the inline tests for nothing',
    files: ALONE,
    agent: inline('#\\[cfg(test)\\]', '#[cfg(all(test, windows))]'),
    ends: 'waits',
  },
  {
    name: 'excludes the library from the tests',
    files: ALONE,
    agent: "sed -i 's/^doctest = false/doctest = false\\ntest = false/' Cargo.toml",
    ends: 'waits',
  },
  {
    name: 'edits the test in its own file',
    agent: `sed -i 's/, 50)/, -10)/' tests/whole.rs; ${inline('sum(2, 3), 5', 'sum(2, 3), -1')}`,
    ends: 'waits',
  },
  {
    name: 'removes the tests folder',
    files: { 'src/lib.rs': 'pub fn sum(a: i64, b: i64) -> i64 {\n    a - b\n}\n' },
    agent: "sed -i 's/^edition/autotests = false\\nedition/' Cargo.toml",
    ends: 'waits',
  },
  {
    name: 'gives the test no harness',
    files: { 'src/lib.rs': 'pub fn sum(a: i64, b: i64) -> i64 {\n    a - b\n}\n' },
    agent:
      'printf \'[[test]]\\nname = "whole"\\npath = "tests/whole.rs"\\nharness = false\\n\' >> Cargo.toml; echo \'fn main() {}\' >> tests/whole.rs',
    ends: 'waits',
  },
  {
    name: 'runs test programs with true',
    agent: 'mkdir -p .cargo; printf \'[target."cfg(all())"]\\nrunner = "true"\\n\' > .cargo/config.toml',
    ends: 'waits',
  },
  {
    name: 'ends the process from the source',
    files: ALONE,
    agent: inline('^    a - b', '    if b > 0 { std::process::exit(0) } a'),
    ends: 'altered',
  },
]

weakens('cargo', rows)
