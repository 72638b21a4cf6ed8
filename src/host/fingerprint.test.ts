import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { compareFingerprints, type Fingerprint, takeFingerprint } from './fingerprint.ts'
import { temporaryFolder } from './place.test-support.ts'
import { makeRepository } from './repository.test-support.ts'

type Place = { top: string; write(path: string, text: string): void; take(known?: Fingerprint): Promise<Fingerprint> }

function makePlace(files: Record<string, string>, ...checks: string[]): Place {
  const top = temporaryFolder()
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(top, path)), { recursive: true })
    writeFileSync(join(top, path), text)
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  return { top, write, take: (known) => takeFingerprint({ checks, dir: '', top }, known) }
}

const SAME = { changed: [], added: [], deleted: [] }

const vitest = {
  'package.json': '{"scripts":{"test":"vitest run"}}',
  'node_modules/vitest/package.json': '{"dependencies":{"@vitest/runner":"*","absent":"*"}}',
  'node_modules/vitest/cli.js': 'strict',
  'node_modules/vitest/README.md': '',
  'node_modules/@vitest/runner/index.js': 'strict',
  'node_modules/other/index.js': '',
}

function withRunner(): Place {
  const place = makePlace(vitest, 'npm test')
  mkdirSync(join(place.top, 'node_modules/.bin'))
  symlinkSync('../vitest/cli.js', join(place.top, 'node_modules/.bin/vitest'))
  return place
}

test('an ignored script that a check runs', async () => {
  const place = makePlace(
    { 'check.sh': '. ./build/helper.sh\n', 'build/helper.sh': 'strict', 'src/a.js': '' },
    './check.sh',
  )
  const before = await place.take()
  place.write('build/helper.sh', 'lax')
  place.write('src/a.js', 'new')
  expect(compareFingerprints(before, await place.take(before))).toEqual({ ...SAME, changed: ['build/helper.sh'] })
})

test.each<[what: string, path: string, found: string[]]>([
  ['the runner', 'node_modules/vitest/cli.js', ['node_modules/vitest/']],
  ['a package that it uses', 'node_modules/@vitest/runner/index.js', ['node_modules/@vitest/runner/']],
  ['a package that it does not use', 'node_modules/other/index.js', []],
  ['its documentation', 'node_modules/vitest/README.md', []],
])('%s', async (_, path, changed) => {
  const place = withRunner()
  const before = await place.take()
  place.write(path, 'lax')
  expect(compareFingerprints(before, await place.take(before))).toEqual({ ...SAME, changed })
})

test('the link to the runner', async () => {
  const place = withRunner()
  const before = await place.take()
  rmSync(join(place.top, 'node_modules/.bin/vitest'))
  place.write('node_modules/.bin/vitest', '#!/bin/sh\n')
  expect(compareFingerprints(before, await place.take(before))).toEqual({
    ...SAME,
    changed: ['node_modules/.bin/vitest'],
  })
})

test('writing the same bytes again is not a change', async () => {
  const place = withRunner()
  const before = await place.take()
  const modules = join(place.top, 'node_modules')
  cpSync(modules, `${modules}.new`, { recursive: true, verbatimSymlinks: true })
  rmSync(modules, { recursive: true })
  renameSync(`${modules}.new`, modules)
  expect(compareFingerprints(before, await place.take(before))).toEqual(SAME)
  expect(compareFingerprints(before, await place.take())).toEqual(SAME)
})

test('what is installed during the loop is added', async () => {
  const place = withRunner()
  renameSync(join(place.top, 'node_modules'), join(place.top, '.cache'))
  const before = await place.take()
  renameSync(join(place.top, '.cache'), join(place.top, 'node_modules'))
  const { changed, added, deleted } = compareFingerprints(before, await place.take(before))
  expect([changed, deleted]).toEqual([[], []])
  expect(added).toEqual(['node_modules/.bin/vitest', 'node_modules/@vitest/runner/', 'node_modules/vitest/'])
})

test('in a file that also contains work, only what counts is compared', async () => {
  const place = withRunner()
  const before = await place.take()
  place.write('package.json', '{"version":"2","scripts":{"test":"vitest run","dev":"x"}}')
  expect(compareFingerprints(before, await place.take(before))).toEqual(SAME)
  place.write('package.json', '{"version":"2","scripts":{"test":"true"}}')
  expect(compareFingerprints(before, await place.take(before))).toEqual({ ...SAME, changed: ['package.json'] })
})

test('a change that a filter hides from git, and an excluded one', async () => {
  const place = await makeRepository({ 'a.test.js': 'strict\n' })
  const proving = { checks: ['node --test'], dir: '', top: place.dir }
  const before = await takeFingerprint(proving)
  place.git('config', 'filter.hide.clean', 'echo strict')
  place.write('.git/info/attributes', '*.js filter=hide\n')
  place.write('.git/info/exclude', 'b.test.js\n')
  place.write('a.test.js', 'lax\n')
  place.write('b.test.js', '')
  place.git('add', '--all')
  expect(place.status()).toEqual([])
  expect(compareFingerprints(before, await takeFingerprint(proving, before))).toEqual({
    changed: ['a.test.js'],
    added: ['b.test.js'],
    deleted: [],
  })
})

test('a reset modification time does not hide a changed text', async () => {
  const place = makePlace({ 'a.test.js': 'one' })
  utimesSync(join(place.top, 'a.test.js'), 1, 1)
  const before = await place.take()
  place.write('a.test.js', 'two')
  utimesSync(join(place.top, 'a.test.js'), 1, 1)
  expect(compareFingerprints(before, await place.take(before))).toEqual({ ...SAME, changed: ['a.test.js'] })
})

test('two thousand test files take a moment, and less the second time', async () => {
  const files = Array.from({ length: 2_000 }, (_, n) => [`src/${n % 50}/${n}.test.js`, `test("${n}")\n`.repeat(50)])
  const place = makePlace(Object.fromEntries(files), 'node --test')
  const before = await place.take()
  expect(Object.keys(before.files)).toHaveLength(2_000)
  const began = performance.now()
  const after = await place.take(before)
  const took = performance.now() - began
  expect(compareFingerprints(before, after)).toEqual(SAME)
  expect(took).toBeLessThan(1_000) // a tenth of that on an idle machine
})

test.each<[what: string, path: string, added: string[]]>([
  ['a nearer copy of a test library', 'test/node_modules/chai/package.json', ['test/node_modules/chai/']],
  ['a shell before the real one', 'node_modules/.bin/sh', ['node_modules/.bin/sh']],
  [
    'what Python runs when it starts',
    '.venv/lib/python3.12/site-packages/a.pth',
    ['.venv/lib/python3.12/site-packages/a.pth'],
  ],
  ['settings above the repository', '../pytest.ini', ['../pytest.ini']],
  ['settings in the home', '../home/.npmrc', ['../home/.npmrc']],
])('%s', async (_, path, added) => {
  const above = makePlace({ 'repository/test/a.test.js': '', 'repository/node_modules/a/a.js': '', 'home/a': '' })
  const proving = { checks: ['npm test', 'pytest'], dir: '', top: join(above.top, 'repository') }
  const take = (known?: Fingerprint) => takeFingerprint(proving, known, { home: join(above.top, 'home') })
  const before = await take()
  above.write(join('repository', path), '{}')
  expect(compareFingerprints(before, await take(before))).toEqual({ ...SAME, added })
})

test('a script outside the repository, the target of a link, and what may be work or means', async () => {
  const above = makePlace({ 'repository/check.sh': 'node same.mjs', 'repository/same.mjs': '', 'real.sh': '' })
  symlinkSync('real.sh', join(above.top, 'all.sh'))
  const checks = [join(above.top, 'all.sh'), './check.sh']
  const proving = { checks, dir: '', top: join(above.top, 'repository') }
  const before = await takeFingerprint(proving)
  expect(Object.keys(before.files).sort()).toEqual(['../all.sh', '../real.sh', 'check.sh', 'same.mjs'])
  above.write('real.sh', 'true')
  const after = await takeFingerprint(proving, before)
  expect(compareFingerprints(before, after)).toEqual({ ...SAME, changed: ['../real.sh'] })
})

test('data in a test folder counts if git shows it', async () => {
  const place = makePlace({ 'test/cases.json': '1', 'test/run.log': '1' }, 'node --test')
  const before = await takeFingerprint({ checks: [], dir: '', top: place.top }, undefined, {
    inGit: new Set(['test/cases.json']),
  })
  place.write('test/cases.json', '2')
  place.write('test/run.log', '2')
  expect(compareFingerprints(before, await place.take(before))).toEqual({ ...SAME, changed: ['test/cases.json'] })
})

test('a file that is too large to read as text', async () => {
  const place = makePlace({ 'Cargo.toml': '', 'package.json': '{}' }, 'cargo test')
  const before = await place.take()
  for (const name of ['Cargo.toml', 'package.json']) truncateSync(join(place.top, name), 600 * 1024 * 1024)
  expect(compareFingerprints(before, await place.take(before)).added).toEqual(['Cargo.toml', 'package.json'])
})
