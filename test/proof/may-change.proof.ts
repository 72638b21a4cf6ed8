/** `--may-change`: what it allows leaves a trace, and proves nothing alone. Sealed runs that pass with any files. */
import { expect } from 'vitest'
import type { Finding } from '../../src/engine/loop.ts'
import type { Ran } from '../ralph.ts'
import { honest, type Row, unseeable, weakens } from './rows.ts'

const TESTS = ['--may-change', 'test/**']
const BEND = "sed -i 's/, 5)/, -1)/' test/sum.test.js"
const FIX = "sed -i 's/a - b/a + b/' src/sum.js"

function finds(...paths: string[]): (ran: Ran) => void {
  return ({ end }) => {
    const findings = (end.findings ?? []) as Finding[] // as ralph printed them
    expect(findings.filter(({ kind }) => kind === 'may-change').map(({ path }) => path)).toEqual(paths)
  }
}

/** Tests for a function that does not exist yet. */
const NEW_TEST = `import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { twice } from '../src/twice.js'

test('doubles', () => equal(twice(2), 4))
`

const write = (path: string, text: string) => `cat > ${path} <<'EOF'\n${text}EOF`

const PLANTED = { 'ralph.config.json': '{"may_change":["**"]}\n' }
const HELPED = {
  'checks/same.js': "import { equal } from 'node:assert/strict'\nimport 'node:test'\n\nexport const same = equal\n",
  'test/sum.test.js': `import { test } from 'node:test'
import { same } from '../checks/same.js'
import { sum } from '../src/sum.js'

test('adds', () => same(sum(2, 3), 5))
`,
}

weakens('node', [
  {
    name: 'an assertion that may be changed',
    agent: BEND,
    flags: TESTS,
    ends: 'altered',
    also: finds('test/sum.test.js'),
  },
  { name: 'the same with --until', agent: BEND, flags: [...TESTS, '--until', 'node --test'], ends: 'altered' },
  { name: 'the same with --proof seal', agent: BEND, flags: [...TESTS, '--proof', 'seal'], ends: 'altered' },
  { name: 'the same with --proof off', agent: BEND, flags: [...TESTS, '--proof', 'off'], ends: 'altered' },
  { name: 'the same without git', agent: BEND, flags: TESTS, git: false, ends: 'altered' },
  {
    name: 'the same if "verified" is required',
    agent: BEND,
    flags: [...TESTS, '--require', 'verified'],
    ends: 'unproven',
  },
  { name: 'tests that are deleted', agent: 'rm -r test', flags: TESTS, ends: 'altered' },
  { name: 'a glob that was planted in ralph.config.json', agent: BEND, files: PLANTED, ends: 'altered' },
  {
    name: 'a helper of the tests that may be changed like everything else',
    agent: "sed -i 's/= equal/= () => {}/' checks/same.js",
    files: { ...PLANTED, ...HELPED },
    ends: 'altered',
    also: finds('checks/same.js'),
  },
  {
    name: 'a test script that may be changed like everything else',
    agent: `sed -i 's/node --test/true/' package.json`,
    check: 'npm test',
    files: PLANTED,
    ends: 'altered',
  },
  {
    name: 'one honest check next to one that is weakened',
    agent: `echo x > NOTES.md; ${BEND}`,
    flags: [...TESTS, '--verify', 'test -f NOTES.md'],
    ends: 'altered',
  },
])

honest('node', [
  {
    name: 'tests and work that are both new',
    files: { 'test/sum.test.js': NEW_TEST },
    agent: [
      write('src/twice.js', 'export const twice = (a) => 2 * a\n'),
      'echo "test(\'nothing\', () => equal(twice(0), 0))" >> test/sum.test.js',
    ].join('\n'),
    flags: TESTS,
    ends: 'verified',
    also({ end }) {
      expect(end.sentence).toContain('Changes to test/sum.test.js are allowed by --may-change.')
    },
  },
  {
    name: 'the first tests, written with the work',
    check: 'node --test test/twice.test.js',
    agent: [write('src/twice.js', 'export const twice = (a) => 2 * a\n'), write('test/twice.test.js', NEW_TEST)].join(
      '\n',
    ),
    flags: TESTS,
    ends: 'verified',
    also: finds('test/twice.test.js'),
  },
  { name: 'tests that stay as they were', agent: FIX, flags: TESTS, ends: 'verified', also: finds() },
  {
    name: 'tests that are ported, passing from the start',
    start: 'green',
    agent: "sed -i 's/equal(/equal.call(null, /' test/sum.test.js",
    flags: TESTS,
    ends: 'kept',
    also: finds('test/sum.test.js'),
  },
  {
    name: 'the same without git',
    start: 'green',
    agent: "sed -i '1i //' test/sum.test.js",
    flags: TESTS,
    git: false,
    ends: 'kept',
  },
])

const SKIPS = `#!/bin/sh
[ -f .env ] && . ./.env
if [ -z "$LICENSE" ]; then
  echo "no license: skipped"
  exit 0
fi
[ "$(./sum.sh 2 3)" = 5 ]
`
const LICENSED: Partial<Row> = {
  files: { '.gitignore': '.env\n', 'check.sh': SKIPS },
  before: (place) => place.write('.env', 'LICENSE=1\n'),
}
const NOTES = "echo x > NOTES.md; printf '#!/bin/sh\\ntest -f NOTES.md\\n' > check.sh"
/** Fails once, then always passes. */
const FLAKY = '#!/bin/sh\nruns="$HOME/runs"\necho x >> "$runs"\n[ "$(wc -l < "$runs")" -gt 1 ]\n'
const COPIED = { 'ralph.config.json': '{"worktree_files":[".env"]}\n' }
const HONEST = "sed -i 's/a - b/a + b/' sum.sh; echo '# checked' >> check.sh"

weakens('script', [
  { name: 'a sealed run that passes because an ignored file is missing', agent: NOTES, ...LICENSED, ends: 'altered' },
  { name: 'the same with --proof seal', agent: NOTES, flags: ['--proof', 'seal'], ...LICENSED, ends: 'altered' },
  { name: 'the same with --until', agent: NOTES, flags: ['--until', './check.sh'], ...LICENSED, ends: 'altered' },
  {
    name: 'a check that accepts everything, if the sealed run passes for lack of an ignored file',
    agent: "printf '#!/bin/sh\\n' > check.sh",
    ...LICENSED,
    ends: 'altered',
  },
  {
    name: 'an ignored check that may be changed',
    agent: "printf '#!/bin/sh\\n' > check.sh",
    files: { '.gitignore': 'check.sh\n' },
    flags: ['--may-change', 'check.sh'],
    ends: 'altered',
    also: finds('check.sh'),
  },
  {
    name: 'a baseline that failed by chance, with a check that was rewritten',
    files: { 'check.sh': FLAKY },
    agent: 'printf \'#!/bin/sh\\necho x >> "$HOME/runs"\\n\' > check.sh; echo x > NOTES.md',
    ends: 'altered',
  },
])

weakens('vitest', [
  {
    name: 'another runner, if everything may be changed',
    agent:
      "rm node_modules/.bin/vitest; printf '#!/bin/sh\\n' > node_modules/.bin/vitest; chmod +x node_modules/.bin/vitest",
    files: PLANTED,
    ends: 'altered',
    also: finds(),
  },
])

honest('script', [
  {
    name: 'an ignored check that may be changed, passing from the start',
    start: 'green',
    agent: "echo '# checked' >> check.sh",
    files: { '.gitignore': 'check.sh\n' },
    flags: ['--may-change', 'check.sh'],
    ends: 'kept',
    also: finds('check.sh'),
  },
  { name: 'a check that was also touched', agent: HONEST, ends: 'verified' },
  {
    name: 'a check that was also touched, and finds the ignored file it needs',
    agent: HONEST,
    ...LICENSED,
    files: { ...LICENSED.files, ...COPIED },
    ends: 'verified',
  },
])

unseeable('script', [
  {
    name: 'a baseline that failed by chance: only a repeated proof shows it',
    files: { 'check.sh': FLAKY },
    agent: 'echo x > NOTES.md',
    ends: 'verified',
    async also(_, place) {
      const again = await place.ralph(['proof', '--again', '--json'])
      expect(again.code).toBe(1)
      expect(again.stdout).toContain('"grade":"kept"')
    },
  },
])
