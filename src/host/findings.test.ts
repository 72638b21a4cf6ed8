import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findFindings } from './findings.ts'
import { makeRepository, type TestRepository } from './repository.test-support.ts'

const state = ({ git }: TestRepository) => `${git('rev-parse', 'HEAD^{tree}')} no-commit`

/** The findings between the first commit and these files. */
async function found(
  files: Record<string, string>,
  changed: Record<string, string>,
  check: string,
  dir = '',
): Promise<string[]> {
  const place = await makeRepository(files)
  const start = state(place)
  place.commit('Work', changed)
  const findings = await findFindings({ dir: join(place.dir, dir) }, start, state(place), { checks: [check] })
  return findings.map(({ kind, path }) => `${kind} ${path}`)
}

test.each<
  [story: string, files: Record<string, string>, changed: Record<string, string>, check: string, findings: string[]]
>([
  ['work gives no finding', { 'a.js': '', 'a.test.js': '' }, { 'a.js': 'new', 'b.js': '' }, 'npm test', []],
  ['a test', { 'a.test.js': '' }, { 'a.test.js': 'x' }, 'npm test', ['tests-changed a.test.js']],
  [
    'a script that a script runs',
    { 'a.sh': './b.sh', 'b.sh': '' },
    { 'b.sh': 'true' },
    './a.sh',
    ['means-changed b.sh'],
  ],
  [
    'a script that is run only now',
    { 'a.sh': 'x' },
    { 'a.sh': './b.sh', 'b.sh': '' },
    './a.sh',
    ['means-changed a.sh', 'means-added b.sh'],
  ],
  [
    'unrelated scripts',
    { 'package.json': '{"scripts":{"test":"x"}}' },
    { 'package.json': '{"scripts":{"test":"x","y":"z"}}' },
    'npm test',
    [],
  ],
  [
    'settings for ralph, planted in a config.yaml',
    { 'config.yaml': 'app: 1\n' },
    { 'config.yaml': 'app: 1\nralph:\n  verify: ["true"]\n' },
    'npm test',
    ['means-added config.yaml'],
  ],
  ['the config.yaml of another program', { 'config.yaml': 'app: 1\n' }, { 'config.yaml': 'app: 2\n' }, 'npm test', []],
])('%s', async (_, files, changed, check, findings) => {
  expect(await found(files, changed, check)).toEqual(findings)
})

test('what may be changed is reported, each path once and apart from the others', async () => {
  const place = await makeRepository({
    'a.test.js': 'assert(1)',
    'b.test.js': '',
    'src/tools.js': "import 'node:test'",
  })
  const start = state(place)
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`new/${at}.test.js`, '']))
  place.commit('Work', { ...many, 'a.test.js': 'test.skip(1)', 'b.test.js': 'x', 'src/tools.js': 'x', 'src/a.js': '' })
  const asked = { checks: ['npm test'], mayChange: ['a.test.js', 'new/**', 'src/**'] }
  const findings = await findFindings({ dir: place.dir }, start, state(place), asked)
  expect(findings[0]).toMatchObject({ kind: 'tests-changed', path: 'b.test.js' })
  expect(findings[1]).toEqual({
    kind: 'may-change',
    path: 'a.test.js',
    words: expect.stringMatching(/skip.*the test was changed.*; allowed by --may-change$/),
    mark: expect.any(String),
  })
  expect(findings.filter(({ kind }) => kind === 'may-change')).toHaveLength(40)
  expect(findings.at(-1)).toMatchObject({ kind: 'noted', words: 'and 22 more' })
})

test('bytes that are not text are compared as well', async () => {
  const place = await makeRepository({ 'a.test.js': 'x' })
  const write = (byte: number) => {
    writeFileSync(join(place.dir, 'a.test.js'), Buffer.from([0x61, byte]))
    place.git('commit', '--quiet', '--all', '--message', 'Bytes')
    return state(place)
  }
  const [start, now] = [write(0x80), write(0x81)]
  const findings = await findFindings({ dir: place.dir }, start, now, { checks: ['npm test'] })
  expect(findings.map(({ kind, path }) => `${kind} ${path}`)).toEqual(['tests-changed a.test.js'])
})

test('a source that may be a test helper is reported if it may be changed', async () => {
  const place = await makeRepository({ 'src/tools.js': "import 'node:test'", 'src/a.js': '' })
  const start = state(place)
  place.commit('Work', { 'src/tools.js': 'x', 'src/a.js': 'x' })
  const findings = await findFindings({ dir: place.dir }, start, state(place), {
    checks: ['npm test'],
    mayChange: ['**'],
  })
  expect(findings.map(({ kind, path }) => `${kind} ${path}`)).toEqual(['may-change src/tools.js'])
})

test('a loop in a folder of the repository', async () => {
  const files = { 'app/chk.sh': 'a', 'chk.sh': 'a' }
  expect(await found(files, { 'app/chk.sh': 'b', 'chk.sh': 'b' }, './chk.sh', 'app')).toEqual([
    'means-changed app/chk.sh',
  ])
})

test('a script that lost its executable bit', async () => {
  const place = await makeRepository({ 'chk.sh': 'a' })
  const start = state(place)
  chmodSync(join(place.dir, 'chk.sh'), 0o755)
  place.commit('Work')
  expect(await findFindings({ dir: place.dir }, start, state(place), { checks: ['./chk.sh'] })).toMatchObject([
    { kind: 'means-changed' },
  ])
})

test("a module of the product is work, but not one that shadows one of Python's own", async () => {
  const check = 'python3 -m pytest'
  expect(await found({ 'types.py': 'a' }, { 'types.py': 'b' }, check)).toEqual([])
  expect(await found({ 'sums.py': 'a' }, { 'types.py': 'b' }, check)).toEqual(['runner-changed types.py'])
})

test.each<[check: string, path: string, finding: string, files?: Record<string, string>]>([
  ['python3 scripts/profile.py', 'scripts/profile.py', 'means-changed'],
  ['./check.sh', 'scripts/profile.py', 'means-changed', { 'check.sh': 'python3 scripts/profile.py' }],
  ['./check.sh', 'numbers.py', 'not-separable', { 'check.sh': 'python3 numbers.py' }],
  ['python3 numbers.py', 'numbers.py', 'not-separable'],
  ['pytest calendar.py', 'calendar.py', 'not-separable'],
  ['pytest -p trace', 'trace.py', 'not-separable'],
])('a module of the product that the checks run counts: %s', async (check, path, kind, files = {}) => {
  const text = 'def test_a():\n    assert add(1, 1) == 2\n'
  expect(await found({ ...files, [path]: text }, { [path]: 'pass\n' }, check)).toContain(`${kind} ${path}`)
  expect(await found({ ...files, 'a.py': '' }, { [path]: text }, check)).toContain(`runner-changed ${path}`)
  expect(await found({ ...files, [path]: text, 'types.py': 'a' }, { 'types.py': 'b' }, check)).toEqual([])
})

test('a change that redirects an import of the tests counts', async () => {
  const leads = (imports: object) => JSON.stringify({ name: 'sums', imports })
  const files = { 'package.json': leads({ '#a': './a.js', '#b': './b.js' }), 'test/a.js': "import '#a'" }
  const withImports = (imports: object) => found(files, { 'package.json': leads(imports) }, 'node --test')
  expect(await withImports({ '#a': './c.js', '#b': './b.js' })).toEqual(['means-changed package.json'])
  expect(await withImports({ '#a': './a.js', '#b': './c.js', '#d': './d.js' })).toEqual([])
})

test('a test helper is one even if it contains examples', async () => {
  const check = 'pytest --doctest-modules'
  expect(await found({ 'same.py': 'import pytest' }, { 'same.py': 'import pytest, os' }, check)).toEqual([
    'not-separable same.py',
  ])
})

test('checks that run more scripts than ralph follows are reported', async () => {
  const many = Object.fromEntries(Array.from({ length: 1100 }, (_, at) => [`cases/c${at}.sh`, '']))
  const files = { ...many, 'check.sh': 'for f in cases/*.sh; do sh $f; done', 'a.js': '' }
  expect(await found(files, { 'a.js': 'x' }, 'node --test')).toEqual([])
  expect(await found(files, { 'a.js': 'x', 'cases/c1099.sh': 'x' }, './check.sh')).toEqual([
    'unreadable ',
    'means-changed cases/c1099.sh',
  ])
}, 60_000)

test('it fails closed', async () => {
  const place = await makeRepository({ 'chk.sh': 'a' })
  const unreadable = [{ kind: 'unreadable' }]
  const gone = `${'1'.repeat(40)} no-commit`
  expect(await findFindings({ dir: place.dir }, gone, state(place), { checks: [] })).toMatchObject(unreadable)
  expect(await findFindings({ dir: place.dir }, state(place), undefined, { checks: [] })).toMatchObject(unreadable)
  expect(await findFindings({ dir: place.dir }, undefined, state(place), { checks: [] })).toEqual([])
})

test('replaced objects are read as they were stored', async () => {
  const place = await makeRepository({ 'a.test.js': 'strict' })
  const start = state(place)
  const strict = place.git('rev-parse', 'HEAD:a.test.js')
  place.commit('Work', { 'a.test.js': 'it.skip("lax")' })
  place.git('replace', strict, place.git('rev-parse', 'HEAD:a.test.js'))
  const findings = await findFindings({ dir: place.dir }, start, state(place), { checks: [] })
  expect(findings.map(({ kind }) => kind)).toEqual(['tests-skipped', 'tests-changed'])
})

test('a finding has a mark of what counts in the file now', async () => {
  const scripts = (test: string, more = '') => `{"scripts":{"test":"${test}"}${more}}`
  const place = await makeRepository({ 'a.test.js': 'a', 'b.test.js': 'b', 'package.json': scripts('x') })
  const start = state(place)
  const marks = async (files: Record<string, string>) => {
    place.commit('Work', files)
    const findings = await findFindings({ dir: place.dir }, start, state(place), { checks: ['npm test'] })
    return Object.fromEntries(findings.map(({ path, mark }) => [path, mark]))
  }
  rmSync(join(place.dir, 'b.test.js'))
  const one = await marks({ 'a.test.js': 'one', 'package.json': scripts('y') })
  expect(one).toEqual({ 'a.test.js': expect.any(String), 'b.test.js': '', 'package.json': expect.any(String) })
  const other = await marks({ 'a.test.js': 'other', 'package.json': scripts('y', ',"version":"2.0.0"') })
  expect(other['a.test.js']).not.toBe(one['a.test.js'])
  expect(other['package.json']).toBe(one['package.json'])
  expect((await marks({ 'package.json': scripts('z') }))['package.json']).not.toBe(one['package.json'])
  expect(await marks({ 'a.test.js': 'one' })).toMatchObject({ 'a.test.js': one['a.test.js'] })
  chmodSync(join(place.dir, 'a.test.js'), 0o755)
  expect((await marks({}))['a.test.js']).not.toBe(one['a.test.js'])
})
