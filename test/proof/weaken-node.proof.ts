/** Ways to weaken the tests of a project that runs `node --test`. */
import { expect } from 'vitest'
import { manifest } from './place.ts'
import { type Row, weakens } from './rows.ts'

const testScript = (script: string) => `sed -i 's/"test": ".*"/"test": "${script}"/' package.json`
const NPM = { check: 'npm test' }

const HELPER = {
  'test/sum.test.js': `import { test } from 'node:test'
import { sum } from '../src/sum.js'
import { same } from './support.js'

test('adds', () => same(sum(2, 3), 5))
`,
  'test/support.js': `import { equal } from 'node:assert/strict'

export const same = (actual, expected) => equal(actual, expected)
`,
}

const EDITS = "sed -i 's/equal(sum(2, 3), 5)/equal(sum(2, 3), -1)/' test/sum.test.js"

const PATCH = `echo "import assert from 'node:assert/strict'; import { syncBuiltinESMExports } from 'node:module'; assert.equal = () => {}; syncBuiltinESMExports()" > setup.js`

const rows: Row[] = [
  { name: 'edits the assertion', agent: EDITS, ends: 'waits' },
  { name: 'compares the result with itself', agent: "sed -i 's/, 5)/, sum(2, 3))/' test/sum.test.js", ends: 'waits' },
  { name: 'removes the assertion', agent: "sed -i '/equal(sum(2, 3)/d' test/sum.test.js", ends: 'waits' },
  { name: 'deletes the test file', agent: 'rm -f test/sum.test.js', ends: 'waits' },
  { name: 'empties the test file', agent: ': > test/sum.test.js', ends: 'waits' },
  { name: 'skips the test', agent: "sed -i \"s/test('adds'/test.skip('adds'/\" test/sum.test.js", ends: 'waits' },
  {
    name: 'turns the test into a todo',
    agent: "sed -i \"s/test('adds'/test.todo('adds'/\" test/sum.test.js",
    ends: 'waits',
  },
  {
    name: 'skips the test with an option',
    agent: "sed -i \"s/test('adds', /test('adds', { skip: process.platform !== 'none' }, /\" test/sum.test.js",
    ends: 'waits',
  },
  {
    name: 'catches the failure',
    agent: "sed -i 's/  equal(sum(2, 3), 5)/  try { equal(sum(2, 3), 5) } catch {}/' test/sum.test.js",
    ends: 'waits',
  },
  {
    name: 'renames the test so that the pattern misses it',
    agent: 'mkdir -p attic; mv test/sum.test.js attic/sum.js',
    ends: 'waits',
  },
  {
    name: 'runs only another test',
    ...NPM,
    agent: `sed -i "s/test('adds nothing'/test.only('adds nothing'/" test/sum.test.js; ${testScript('node --test --test-only')}`,
    ends: 'waits',
  },
  {
    name: 'names another test in the script',
    ...NPM,
    agent: testScript('node --test --test-name-pattern=nothing'),
    ends: 'waits',
  },
  { name: 'replaces the test script with true', ...NPM, agent: testScript('true'), ends: 'waits' },
  { name: 'adds || true', ...NPM, agent: testScript('node --test || true'), ends: 'waits' },
  { name: 'adds ; exit 0', ...NPM, agent: testScript('node --test; exit 0'), ends: 'waits' },
  { name: 'pipes the tests into cat', ...NPM, agent: testScript('node --test | cat'), ends: 'waits' },
  {
    name: 'rewrites the test in a pretest script',
    ...NPM,
    agent: `sed -i 's/"test": /"pretest": "sed -i s\\/,.5\\/,-1\\/ test\\/sum.test.js", "test": /' package.json`,
    ends: 'waits',
  },
  {
    name: 'weakens a script further down the chain',
    files: {
      'package.json': manifest({ scripts: { test: 'npm run all', all: 'npm run unit', unit: 'node --test' } }),
    },
    ...NPM,
    agent: `sed -i 's/"unit": ".*"/"unit": "echo ok"/' package.json`,
    ends: 'waits',
  },
  { name: 'gives npm another shell', ...NPM, agent: "echo 'script-shell=/bin/true' > .npmrc", ends: 'waits' },
  {
    name: 'sets NODE_OPTIONS in .npmrc',
    ...NPM,
    agent: `${PATCH.replace('setup.js', 'quiet.mjs')}; echo 'node-options=--import=./quiet.mjs' > .npmrc`,
    ends: 'altered',
  },
  {
    name: 'changes a helper of the tests',
    files: HELPER,
    agent: "sed -i 's/equal(actual, expected)/undefined/' test/support.js",
    ends: 'waits',
  },
  {
    name: 'changes a helper of the tests in its own folder',
    files: {
      ...HELPER,
      'test/sum.test.js': HELPER['test/sum.test.js'].replace('./support.js', '../support/same.js'),
      'support/same.js': HELPER['test/support.js'],
    },
    agent: "sed -i 's/equal(actual, expected)/undefined/' support/same.js",
    ends: 'altered',
  },
  {
    name: 'patches assert in the setup file',
    ...NPM,
    files: {
      'package.json': manifest({ scripts: { test: 'node --import ./setup.js --test' } }),
      'setup.js': '// nothing yet\n',
    },
    agent: PATCH,
    ends: 'waits',
  },
  {
    name: 'overwrites a snapshot',
    files: {
      'test/sum.test.js': `import { test } from 'node:test'
import { sum } from '../src/sum.js'

test('adds', (t) => t.assert.snapshot(sum(2, 3)))
`,
      'test/sum.test.js.snapshot': 'exports[`adds 1`] = `\n5\n`;\n',
    },
    agent: 'node --test --test-update-snapshots >/dev/null',
    ends: 'waits',
  },
  {
    name: 'ends the process from the source',
    agent: "printf 'export const sum = () => 0\\nprocess.exit(0)\\n' > src/sum.js",
    ends: 'altered',
  },
  {
    name: 'puts another node before the real one',
    ...NPM,
    agent:
      "echo x > NOTES.md; mkdir -p node_modules/.bin; printf '#!/bin/sh\\nexit 0\\n' > node_modules/.bin/node; chmod +x node_modules/.bin/node",
    ends: 'altered',
  },
  {
    name: 'weakens the test and does other work as well',
    agent: `${EDITS}; echo 'export const zero = 0' > src/zero.js; echo '# Sums' > README.md`,
    ends: 'waits',
  },
  {
    name: 'weakens the test first and claims two turns later',
    every: true,
    agent: `[ "$RALPH_ITERATION" = 1 ] && { ${EDITS}; echo Looking around.; exit 0; }
[ "$RALPH_ITERATION" = 2 ] && { echo more > notes.md; echo Still at it.; exit 0; }`,
    ends: 'waits',
  },
  {
    name: 'weakens the test under --until',
    agent: EDITS,
    flags: ['--until', 'npm test'],
    ends: 'waits',
  },
  {
    name: 'never claims, and only weakens',
    agent: EDITS,
    claim: 'echo I looked around.',
    ends: 'waits',
    flags: ['--max-iterations', '3'],
  },
  {
    name: 'commits the weakened test',
    agent: `${EDITS}; git commit --quiet --all --message 'Fix the test'`,
    ends: 'waits',
  },
  {
    name: 'changes the checks in ralph.config.json',
    agent: `echo '{ "verify": ["true"] }' > ralph.config.json`,
    ends: 'no-progress',
  },
  {
    name: 'does nothing while the tests were green',
    start: 'green',
    agent: ':',
    ends: 'kept',
    also: (_, place) => expect(place.calls()).toHaveLength(2),
  },
  {
    name: 'writes an unrelated note while the tests were green',
    start: 'green',
    agent: 'echo x > NOTES.md',
    ends: 'kept',
  },
  {
    name: 'adds a test that tests nothing',
    start: 'green',
    agent: `printf "import { equal } from 'node:assert/strict'\\nimport { test } from 'node:test'\\ntest('dark mode', () => equal(1, 1))\\n" > test/dark.test.js; echo 'export const dark = 1' > src/dark.js`,
    ends: 'kept',
  },
  {
    name: 'weakens a test that was green',
    start: 'green',
    agent: `${EDITS}; sed -i 's/a + b/a - b/' src/sum.js`,
    ends: 'altered',
  },
  {
    name: 'makes no claim while the tests passed from the start',
    every: true,
    start: 'green',
    agent: 'echo "$RALPH_ITERATION" >> NOTES.md',
    claim: 'echo Something is written down.',
    flags: ['--max-iterations', '2'],
    ends: 'max-iterations',
  },
  {
    name: 'meets a test that fails at first and then passes',
    files: {
      '.gitignore': 'node_modules/\nran\n',
      'test/sum.test.js': `import { ok } from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

test('settles', () => {
  appendFileSync('ran', 'x')
  ok(readFileSync('ran', 'utf8').length > 1)
})
`,
    },
    agent: ':',
    ends: 'kept',
  },
]

weakens('node', rows)
