import { expect, test } from 'vitest'
import { type MeansChange, MOST_FINDINGS, readFindings } from './findings.ts'
import type { Part, Role } from './means.ts'

type Change = [path: string, role: Role, before: string | undefined, after: string | undefined, part?: Part]

function found(...changes: Change[]): string[] {
  const all = changes.map(
    ([path, role, before, after, part = 'whole']): MeansChange => ({
      path,
      means: { role, part },
      before,
      after,
      mark: 'm',
    }),
  )
  return readFindings(all).map(({ kind, path, words }) => `${kind} ${path}${words && `: ${words}`}`)
}

const test1: Part = { kind: 'json', keys: [['scripts', 'test']] }

test.each<[story: string, change: Change, findings: string[]]>([
  [
    'a changed test',
    ['a.test.ts', 'test', 'expect(a).toBe(1)', 'expect(a).toBe(2)'],
    ['tests-changed a.test.ts: the test was changed'],
  ],
  [
    'a removed assertion',
    ['a.test.ts', 'test', 'expect(a)\nexpect(b).x\n', 'expect(a)\n'],
    ['tests-changed a.test.ts: the test was changed (an assertion was removed)'],
  ],
  [
    'more tests',
    ['a.test.ts', 'test', 'a\n', 'a\nb\n'],
    ['tests-changed a.test.ts: the test was changed (lines were added)'],
  ],
  ['a deleted test', ['a.test.ts', 'test', 'a', undefined], ['tests-deleted a.test.ts: the test was deleted']],
  ['a new test', ['a.test.ts', 'test', undefined, 'a'], ['tests-added a.test.ts: the test is new']],
  [
    'an empty new one',
    ['tests/__init__.py', 'setup', undefined, ''],
    ['means-added tests/__init__.py: the test setup is new'],
  ],
  ['a script', ['check.sh', 'script', 'a', 'b'], ['means-changed check.sh: a script that the checks run was changed']],
  ['a snapshot', ['a.snap', 'snapshot', 'a', 'b'], ['tests-changed a.snap: the snapshot was changed']],
  [
    'a module in the place of the runner',
    ['pytest.py', 'shadow', undefined, 'x'],
    ['runner-changed pytest.py: a file that replaces the test runner was added'],
  ],
  ['nothing', ['a.test.ts', 'test', 'a', 'a'], []],
  [
    'another script of package.json',
    ['package.json', 'script', '{"scripts":{"test":"a"}}', '{"scripts":{"test":"a","b":"c"}}', test1],
    [],
  ],
  [
    'a script of package.json',
    ['package.json', 'script', '{"scripts":{"test":"a"}}', '{"scripts":{"test":"b"}}', test1],
    ['means-changed package.json: scripts.test changed'],
  ],
  [
    'one that is gone',
    ['package.json', 'script', '{"scripts":{"test":"a"}}', '{}', test1],
    ['means-deleted package.json: a script that the checks run was deleted'],
  ],
  [
    'a package.json that is none',
    ['package.json', 'script', '{}', '{', test1],
    ['not-separable package.json: its tests cannot be told apart from the work'],
  ],
  [
    'a comment in a recipe',
    ['Makefile', 'script', 'a:\n\tx\n', 'a:\n\t# y\n\tx\n', { kind: 'make', targets: ['a'], variables: [] }],
    ['means-changed Makefile: a script that the checks run was changed (lines were added)'],
  ],
  [
    'a test that asserts nothing',
    ['a.test.ts', 'test', 'test("a", () => {\n  expect(a).toBe(1)\n})', 'test("a", () => {\n  run()\n})'],
    [
      'tests-skipped a.test.ts: it no longer asserts anything',
      'tests-changed a.test.ts: the test was changed (an assertion was removed)',
    ],
  ],
])('%s', (_, change, findings) => {
  expect(found(change)).toEqual(findings)
})

test.each<[role: Role, line: string]>([
  ...[
    'it.skip("a")',
    'describe.only(',
    'test.todo("a")',
    'xit("a")',
    'fdescribe(',
    'it.skipIf(x)(',
    'test.runIf(x)',
    'test.fails("a")',
    'it.concurrent.skip("a")',
  ].map((line): [Role, string] => ['test', line]),
  ...[
    '{ skip: true }',
    't.skip()',
    'this.skip()',
    '@pytest.mark.skip',
    'pytest.skip("x")',
    '@pytest.mark.xfail',
    '@unittest.skip("x")',
    'self.skipTest("x")',
  ].map((line): [Role, string] => ['test', line]),
  ...[
    't.Skip("x")',
    '#[ignore]',
    '@Disabled',
    '@Ignore',
    '[Fact(Skip = "x")]',
    '$this->markTestSkipped()',
    'pending "x"',
  ].map((line): [Role, string] => ['test', line]),
  ...[
    'expect(true).toBe(true)',
    "expect('a').toEqual('a')",
    'assert True',
    'assert(true)',
    'assert.ok(true)',
    'assert.equal(1, 1)',
    'assert_eq!(1, 1)',
    'assert!(true);',
    'self.assertTrue(True)',
    'assertEquals(1, 1)',
    'expect(1).to.equal(1)',
  ].map((line): [Role, string] => ['test', line]),
  ...['process.exit(0)', 'sys.exit(0)', 'os._exit(0)', 'collect_ignore = ["a"]'].map((line): [Role, string] => [
    'test',
    line,
  ]),
  ...[
    'npm test || true',
    'run || :',
    'exit 0',
    'set +e',
    '"test": "vitest || true"',
    '"test": "vitest; exit 0"',
    'continue-on-error: true',
  ].map((line): [Role, string] => ['script', line]),
  ...[
    '  exclude: ["a.test.ts"],',
    'addopts = --ignore=tests/a.py',
    'passWithNoTests: true',
    'autotests = false',
    '<skipTests>true</skipTests>',
    'testPathIgnorePatterns: ["a"]',
  ].map((line): [Role, string] => ['config', line]),
])('%s: %s is a way to skip', (role, line) => {
  expect(found(['x', role, 'a\n', `a\n${line}\n`])[0]).toMatch(/^tests-skipped x: /)
})

test.each([
  'it("skips nothing")',
  'expect(skip).toBe(true)',
  'expect(1).toBe(one)',
  'assert.equal(a, 1)',
  'assert_eq!(a, 1);',
  'assert x is True',
  'exit 1',
  'process.exit(1)',
  'set -e',
  'edit(x)',
  'const only = 1',
  'expect(a).toBe(true)',
  'assertEquals(1, 10)',
])('%s is not', (line) => {
  expect(found(['x', 'script', 'a\n', `a\n${line}\n`])).toEqual([
    'means-changed x: a script that the checks run was changed (lines were added)',
  ])
})

test('loading a module is not an assertion', () => {
  const loads = "const test = require('node:test')\nequal(a, 1)"
  expect(found(['a.test.js', 'test', loads, "import test from 'node:test'\nequal(a, 1)"])).toHaveLength(1)
})

test('an existing skip does not count', () => {
  expect(found(['a.test.ts', 'test', 'it.skip("a")\nb\n', 'b\nit.skip("a")\nc\n'])).toEqual([
    'tests-changed a.test.ts: the test was changed (lines were added)',
  ])
})

test('the most serious come first, and not too many', () => {
  const added = Array.from({ length: 50 }, (_, n): Change => [`${n}.test.ts`, 'test', undefined, 'a'])
  const all = found(...added, ['b.test.ts', 'test', 'a', undefined])
  expect(all).toHaveLength(MOST_FINDINGS + 1)
  expect(all[0]).toBe('tests-deleted b.test.ts: the test was deleted')
  expect(all.at(-1)).toBe('noted : and 11 more')
})

test('inseparable tests are never cut off', () => {
  const many = Array.from({ length: 60 }, (_, n): Change => [`${n}.test.ts`, 'test', 'a', 'b'])
  const all = found(...many, ['package.json', 'config', '{', '{"scripts"', test1])
  expect(all[0]).toMatch(/^not-separable package\.json/)
})
