/** Honest work on projects that run pytest, cargo, make or their own script. */
import { execFileSync } from 'node:child_process'
import { FIX_PYTHON } from './place.ts'
import { honest } from './rows.ts'

const TEST = 'tests/test_sums.py'

honest('pytest', [
  { name: 'fixes the code', agent: FIX_PYTHON, ends: 'verified' },
  {
    name: 'adds a function with a test',
    start: 'green',
    agent: `grep -q twice sums.py || { printf '\\n\\ndef twice(a):\\n    return 2 * a\\n' >> sums.py; printf '\\n\\ndef test_twice():\\n    assert sums.twice(4) == 8\\n' >> ${TEST}; }`,
    ends: 'tested',
  },
  {
    name: 'adds a fixture in a new conftest.py',
    agent: `${FIX_PYTHON}; printf 'import pytest\\n\\n\\n@pytest.fixture\\ndef ten():\\n    return 10\\n' > tests/conftest.py
grep -q ten ${TEST} || printf '\\n\\ndef test_ten(ten):\\n    assert sums.add(ten, ten) == 20\\n' >> ${TEST}`,
    ends: 'verified',
  },
  {
    name: 'adds a marker in pytest.ini',
    agent: `${FIX_PYTHON}; printf '[pytest]\\nmarkers =\\n    slow: takes long\\n' > pytest.ini
grep -q slow ${TEST} || printf '\\n\\n@pytest.mark.slow\\ndef test_large():\\n    assert sums.add(10**9, 1) == 10**9 + 1\\n' >> ${TEST}; grep -q 'import pytest' ${TEST} || sed -i '1i import pytest' ${TEST}`,
    ends: 'verified',
  },
  {
    name: 'raises a version in pyproject.toml',
    files: {
      'pyproject.toml': '[project]\nname = "sums"\nversion = "1.0"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n',
    },
    agent: `${FIX_PYTHON}; sed -i 's/1.0/1.1/' pyproject.toml`,
    ends: 'verified',
  },
  {
    name: 'has its runner in a virtual environment',
    files: { '.gitignore': '__pycache__/\n.venv/\n' },
    before: ({ dir, env }) =>
      void execFileSync('python3', ['-m', 'venv', '--without-pip', '--system-site-packages', '.venv'], {
        cwd: dir,
        env,
      }),
    check: '.venv/bin/python -m pytest -q',
    agent: `${FIX_PYTHON}; grep -q large ${TEST} || printf '\\n\\ndef test_large():\\n    assert sums.add(10**9, 1) == 10**9 + 1\\n' >> ${TEST}`,
    ends: 'verified',
  },
])

const FIX_RUST = "sed -i 's/^    a - b/    a + b/' src/lib.rs"
const MORE_RUST =
  "grep -q hundreds src/lib.rs || sed -i 's/^    fn adds() {/    fn hundreds() {\\n        assert_eq!(sum(100, 200), 300);\\n    }\\n\\n    #[test]\\n    fn adds() {/' src/lib.rs"

honest('cargo', [
  { name: 'fixes the code', agent: FIX_RUST, ends: 'verified' },
  { name: 'fixes the code and adds an inline test', agent: `${FIX_RUST}; ${MORE_RUST}`, ends: 'verified' },
  {
    name: 'adds a function with an inline test',
    start: 'green',
    agent: `grep -q twice src/lib.rs || { sed -i '1i pub fn twice(a: i64) -> i64 {\\n    2 * a\\n}\\n' src/lib.rs; sed -i 's/^    fn adds() {/    fn doubles() {\\n        assert_eq!(twice(4), 8);\\n    }\\n\\n    #[test]\\n    fn adds() {/' src/lib.rs; }`,
    ends: 'tested',
  },
  {
    name: 'raises the version of the package',
    agent: `${FIX_RUST}; sed -i 's/1.0.0/1.1.0/' Cargo.toml`,
    ends: 'verified',
  },
])

const FIX_C = "sed -i 's/a - b/a + b/' src/sum.c"

honest('make', [
  { name: 'fixes a program that is built', agent: FIX_C, ends: 'verified' },
  {
    name: 'adds a target',
    agent: `${FIX_C}; grep -q install: Makefile || printf 'install: build/sum\\n\\tcp build/sum bin/\\n' >> Makefile`,
    ends: 'verified',
  },
  {
    name: 'adds a test',
    agent: `${FIX_C}; grep -q 300 tests/sum.sh || echo 'test "$(build/sum 100 200)" = 300' >> tests/sum.sh`,
    ends: 'verified',
  },
  {
    name: 'rebuilds what the check runs and git ignores',
    files: {
      Makefile: 'test: build/check\n\t./build/check\nbuild/check: check.c sum.c\n\tmkdir -p build\n\tcc -o $@ $^\n',
      'sum.c': 'int sum(int a, int b) { return a - b; }\n',
      'check.c': 'int sum(int, int);\nint main(void) { return sum(2, 3) == 5 ? 0 : 1; }\n',
    },
    before: ({ dir, env }) => void execFileSync('sh', ['-c', 'make build/check'], { cwd: dir, env, stdio: 'ignore' }),
    agent: "sed -i 's/a - b/a + b/' sum.c; make build/check > /dev/null",
    ends: 'verified',
  },
])

const FIX_SH = "sed -i 's/a - b/a + b/' sum.sh"

honest('script', [
  { name: 'fixes the script', agent: FIX_SH, ends: 'verified' },
  {
    name: 'makes the check stricter',
    agent: `${FIX_SH}; grep -q 300 check.sh || echo 'expect "$(./sum.sh 100 200)" 300' >> check.sh`,
    ends: 'verified',
  },
  {
    name: 'rewrites the helper',
    agent: `${FIX_SH}; printf 'expect() { [ "$1" = "$2" ] || { echo "got $1"; exit 1; }; }\\n' > helper.sh`,
    ends: 'verified',
  },
  { name: 'writes only docs', start: 'green', agent: "echo '# Sums' > README.md", ends: 'kept' },
  {
    name: 'finishes what an earlier loop started with tests',
    start: 'green',
    before: async (place) => {
      const lines = `echo 'expect "$(./twice.sh 4)" 8' >> check.sh`
      await place.ralph(['run', 'Double.', '--agent', place.agent(lines), '--json', '--max-iterations', '1'])
    },
    agent: "printf '#!/bin/sh\\necho $(($1 * 2))\\n' > twice.sh; chmod +x twice.sh",
    // Measured from the start of the earlier loop, the check never failed: what failed is the agent's own test.
    ends: 'altered',
  },
])
