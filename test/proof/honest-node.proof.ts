/**
 * Honest work on projects that run `node --test` or Vitest: it ends with the grade it deserves, without waiting for
 * anyone.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Place, Ran } from '../ralph.ts'
import { manifest } from './place.ts'
import { honest, type Row } from './rows.ts'

const FIX = "sed -i 's/a - b/a + b/' src/sum.js"
const TWICE = "echo 'export const twice = (a) => a * 2' > src/twice.js"
const TWICE_TEST = `printf "import { equal } from 'node:assert/strict'\\nimport { test } from 'node:test'\\nimport { twice } from '../src/twice.js'\\n\\ntest('doubles', () => equal(twice(4), 8))\\n" > test/twice.test.js`
const MORE_TESTS = `grep -q hundreds test/sum.test.js || printf "\\ntest('hundreds', () => {\\n  equal(sum(100, 200), 300)\\n})\\n" >> test/sum.test.js`
/** Another function in the same file, used by a test in the same file. */
const THRICE = `grep -q thrice src/sum.js || { echo 'export const thrice = (a) => a * 3' >> src/sum.js
sed -i 's/{ sum }/{ sum, thrice }/' test/sum.test.js
printf "\\ntest('thrice', () => {\\n  equal(thrice(2), 6)\\n})\\n" >> test/sum.test.js; }`

const COMMON = {
  'package.json': manifest({ type: 'commonjs', scripts: { test: 'node --test' } }),
  'src/sum.js': 'exports.sum = (a, b) => a + b\n',
  'test/sum.test.js': `const { equal } = require('node:assert/strict')
const { test } = require('node:test')
const { sum } = require('../src/sum.js')

test('adds', () => {
  equal(sum(2, 3), 5)
})
`,
}

const rows: Row[] = [
  { name: 'fixes the code', agent: FIX, ends: 'verified' },
  { name: 'fixes the code and adds tests to the file', agent: `${FIX}; ${MORE_TESTS}`, ends: 'verified' },
  { name: 'fixes the code and adds a test file', agent: `${FIX}; ${TWICE}; ${TWICE_TEST}`, ends: 'verified' },
  { name: 'adds a function with a test file', start: 'green', agent: `${TWICE}; ${TWICE_TEST}`, ends: 'tested' },
  { name: 'adds a function with a test in an existing file', start: 'green', agent: THRICE, ends: 'tested' },
  { name: 'writes only docs', start: 'green', agent: "echo '# Sums' > README.md", ends: 'kept' },
  {
    name: 'restructures',
    start: 'green',
    agent: "printf 'export const sum = (a, b) => a + b\\n' > src/sum.js",
    ends: 'kept',
  },
  {
    name: 'renames a function together with its tests',
    start: 'green',
    agent: "sed -i 's/\\bsum(/add(/g; s/{ sum }/{ add }/' src/sum.js test/sum.test.js",
    ends: 'altered',
    also: (_, place) => expect(place.calls()).toHaveLength(2),
  },
  {
    name: 'removes a feature together with its tests',
    start: 'green',
    files: {
      'src/twice.js': 'export const twice = (a) => a * 2\n',
      'test/twice.test.js': `import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { twice } from '../src/twice.js'

test('doubles', () => equal(twice(4), 8))
`,
    },
    agent: 'rm -f src/twice.js test/twice.test.js',
    ends: 'altered',
  },
  {
    name: 'moves the tests to another folder',
    agent: `${FIX}; mkdir -p test/unit; [ -e test/unit/sum.test.js ] || mv test/sum.test.js test/unit/; sed -i "s|'../src|'../../src|" test/unit/sum.test.js`,
    ends: 'verified',
  },
  {
    name: 'formats the tests',
    agent: `${FIX}; sed -i 's/$/;/; s/{;$/{/; s/^;$//' test/sum.test.js`,
    ends: 'verified',
  },
  {
    name: 'makes a test stricter',
    agent: `${FIX}; sed -i 's/equal(sum(2, 3), 5)/equal(sum(2, 3), 5); equal(sum(-2, -3), -5)/' test/sum.test.js`,
    ends: 'verified',
  },
  {
    name: 'ports the project to modules',
    start: 'green',
    files: COMMON,
    agent: `sed -i 's/commonjs/module/' package.json
echo 'export const sum = (a, b) => a + b' > src/sum.js
sed -i "s/const \\(.*\\) = require(\\(.*\\))/import \\1 from \\2/" test/sum.test.js`,
    ends: 'altered',
  },
  {
    name: 'adds a script to package.json',
    check: 'npm test',
    agent: `${FIX}; sed -i 's/"test": "node --test"/"test": "node --test", "lint": "true"/' package.json`,
    ends: 'verified',
  },
  {
    name: 'adds a reporter to the test script',
    check: 'npm test',
    agent: `${FIX}; sed -i 's/"node --test"/"node --test --test-reporter=tap"/' package.json`,
    ends: 'verified',
  },
  {
    name: 'raises the version of a dependency',
    files: { 'package.json': manifest({ scripts: { test: 'node --test' }, dependencies: { 'left-pad': '1.0.0' } }) },
    agent: `${FIX}; sed -i 's/"left-pad": "1.0.0"/"left-pad": "1.3.0"/' package.json`,
    ends: 'verified',
  },
  {
    name: 'writes a comment in the CI file',
    files: { '.github/workflows/ci.yml': 'on: push\njobs:\n  test:\n    steps:\n      - run: npm test\n' },
    agent: `${FIX}; sed -i '1i # Runs the tests.' .github/workflows/ci.yml`,
    ends: 'verified',
  },
  {
    name: 'installs a package',
    check: 'npm test',
    agent: `mkdir -p node_modules/plus; echo '{ "name": "plus", "type": "module", "main": "plus.js" }' > node_modules/plus/package.json
echo 'export const plus = (a, b) => a + b' > node_modules/plus/plus.js
printf "import { plus } from 'plus'\\nexport const sum = plus\\n" > src/sum.js`,
    ends: 'verified',
  },
  {
    name: 'installs a package and adds tests',
    start: 'green',
    agent: `mkdir -p node_modules/plus; echo '{ "name": "plus", "type": "module", "main": "plus.js" }' > node_modules/plus/package.json
echo 'export const plus = (a, b) => a + b' > node_modules/plus/plus.js
printf "export { plus as twice } from 'plus'\\n" > src/twice.js; ${TWICE_TEST}; sed -i 's/twice(4)/twice(4, 4)/' test/twice.test.js`,
    ends: 'tested',
  },
  {
    name: 'commits its work',
    agent: `${FIX}; ${MORE_TESTS}; git add --all; git commit --quiet --message Fix`,
    ends: 'verified',
  },
  {
    name: 'works on a branch',
    agent: `git checkout --quiet -B work; ${FIX}; ${MORE_TESTS}; git commit --quiet --all --message Fix`,
    ends: 'verified',
  },
  { name: 'works in its own worktree', agent: `${FIX}; ${MORE_TESTS}`, flags: ['--worktree'], ends: 'verified' },
  {
    name: 'works until a command passes',
    agent: `${FIX}; ${MORE_TESTS}`,
    flags: ['--until', 'node --test'],
    ends: 'verified',
  },
  { name: 'works without git', git: false, agent: FIX, ends: 'verified' },
  { name: 'adds tests without git', git: false, agent: `${FIX}; ${MORE_TESTS}`, ends: 'altered' },
  { name: 'works with sealed runs only', agent: `${FIX}; ${MORE_TESTS}`, flags: ['--proof', 'seal'], ends: 'verified' },
  {
    name: 'fixes a test that the user has just written',
    start: 'green',
    before: (place) => {
      place.write(
        'test/twice.test.js',
        `import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { twice } from '../src/twice.js'

test('doubles', () => equal(twice(4), 8))
`,
      )
    },
    agent: TWICE,
    ends: 'verified',
    also: (ran) => expect(JSON.stringify(ran.end.findings)).toContain('inherited'),
  },
  {
    name: 'works in a subfolder of the repository',
    files: {
      'app/package.json': manifest({}),
      'app/src/sum.js': 'export const sum = (a, b) => a - b\n',
      'app/test/sum.test.js': COMMON['test/sum.test.js'].replaceAll(
        /const (.*) = require\((.*)\)/g,
        'import $1 from $2',
      ),
    },
    cwd: 'app',
    agent: `${FIX}; ${MORE_TESTS}`,
    ends: 'verified',
  },
  {
    name: 'works in a monorepo whose packages use each other',
    files: {
      'package.json': manifest({ workspaces: ['packages/*'], scripts: { test: 'node --test packages/app' } }),
      'test/sum.test.js': '',
      'packages/sums/package.json': manifest({ name: '@acme/sums', exports: './src/sum.js' }),
      'packages/sums/src/sum.js': 'export const sum = (a, b) => a - b\n',
      'packages/app/package.json': manifest({ name: '@acme/app' }),
      'packages/app/total.test.js': `import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '@acme/sums'

test('adds', () => {
  equal(sum(2, 3), 5)
})
`,
    },
    before: ({ dir }) => {
      mkdirSync(join(dir, 'node_modules/@acme'), { recursive: true })
      symlinkSync('../../packages/sums', join(dir, 'node_modules/@acme/sums'))
    },
    agent: `sed -i 's/a - b/a + b/' packages/sums/src/sum.js
grep -q hundreds packages/app/total.test.js || printf "\\ntest('hundreds', () => equal(sum(100, 200), 300))\\n" >> packages/app/total.test.js`,
    ends: 'verified',
  },
  {
    name: 'works next to a submodule',
    before: addSubmodule,
    agent: `${FIX}; ${MORE_TESTS}`,
    ends: 'verified',
  },
]

function addSubmodule({ dir, root, env }: Place): void {
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], { cwd, env, stdio: 'ignore' })
  const other = join(root, 'other')
  mkdirSync(other)
  git(other, 'init', '--quiet')
  git(other, 'commit', '--quiet', '--allow-empty', '--message', 'Start')
  git(dir, 'submodule', '--quiet', 'add', other, 'lib/other')
  git(dir, 'commit', '--quiet', '--all', '--message', 'A library')
}

honest('node', rows)

const saysNothingBad = (ran: Ran) => expect(JSON.stringify(ran.end.findings ?? [])).not.toContain('runner-changed')

honest('vitest', [
  { name: 'fixes the code', agent: FIX, ends: 'verified', also: saysNothingBad },
  {
    name: 'adds a snapshot',
    start: 'green',
    agent: `${TWICE}
printf "import { expect, it } from 'vitest'\\nimport { twice } from './twice.js'\\n\\nit('doubles', () => {\\n  expect(twice(4)).toMatchSnapshot()\\n})\\n" > src/twice.test.js
node_modules/.bin/vitest run -u >/dev/null 2>&1`,
    ends: 'tested',
  },
  {
    name: 'adds a configuration with a reporter',
    agent: `${FIX}; echo "export default { test: { reporters: ['verbose'] } }" > vitest.config.js`,
    ends: 'verified',
  },
  {
    name: 'installs the packages',
    check: 'npm test',
    before: ({ dir, root }) => void execFileSync('mv', [join(dir, 'node_modules'), join(root, 'packages')]),
    agent: `${FIX}; [ -e node_modules ] || cp -R ../packages node_modules`,
    ends: 'verified',
  },
])
