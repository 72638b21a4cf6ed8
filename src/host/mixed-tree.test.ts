import { chmodSync, existsSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readMeansBetween } from './means.ts'
import { type Built, buildTree } from './mixed-tree.ts'
import { temporaryFolder } from './place.test-support.ts'
import { makeRepository, type TestRepository } from './repository.test-support.ts'

type Asked = { checks: string[]; allowed?: string[]; protect?: string[]; mayChange?: string[] }

/** The sealed and the reversed tree between the first commit and the current files. */
async function bothWays(
  place: TestRepository,
  { allowed = [], ...asked }: Asked,
): Promise<{ sealed: Built; reversed: Built }> {
  const start = place.git('rev-parse', 'HEAD^{tree}')
  place.commit('Work')
  const now = place.git('rev-parse', 'HEAD^{tree}')
  const between = await readMeansBetween(place.repo, start, now, { dir: '', ...asked })
  if (!between) throw new Error('git cannot read the trees')
  const index = join(temporaryFolder(), 'index')
  const { means } = between
  const sealed = await buildTree(place.repo, { base: now, from: start, means, allowed, index })
  const reversed = await buildTree(place.repo, { base: start, from: now, means, allowed, index })
  expect(existsSync(index)).toBe(false)
  expect(place.status()).toEqual([])
  return { sealed, reversed }
}

/** The files of a built tree, with their contents. */
function textsOf({ git }: TestRepository, built: Built): Record<string, string> {
  if ('cannot' in built) throw new Error(built.cannot)
  const listed = git('ls-tree', '-r', built.tree).split('\n')
  return Object.fromEntries(
    listed.map((line) => {
      const [, mode = '', id = '', path = ''] = /^(\d+) \w+ (\w+)\t(.*)$/.exec(line) ?? []
      const mark = mode === '100644' ? '' : mode === '120000' ? '-> ' : '(may be run) '
      return [path, mark + git('cat-file', 'blob', id)]
    }),
  )
}

test('sealed has the present work and the original tests, reversed the other way round', async () => {
  const place = await makeRepository({
    'src/a.js': 'old',
    'test/a.test.js': 'strict',
    'test/gone.test.js': 'gone',
    'package.json': '{\n  "version": "1",\n  "scripts": {\n    "test": "node --test"\n  }\n}\n',
  })
  place.write('src/a.js', 'new')
  place.write('src/b.js', 'new')
  place.write('test/a.test.js', 'lax')
  place.write('test/new.test.js', 'new')
  rmSync(join(place.dir, 'test/gone.test.js'))
  place.write('package.json', '{\n  "version": "2",\n  "scripts": {\n    "test": "true",\n    "dev": "x"\n  }\n}\n')
  const { sealed, reversed } = await bothWays(place, { checks: ['npm test'] })
  expect(textsOf(place, sealed)).toEqual({
    'src/a.js': 'new',
    'src/b.js': 'new',
    'test/a.test.js': 'strict',
    'test/gone.test.js': 'gone',
    'package.json': '{\n  "version": "2",\n  "scripts": {\n    "test": "node --test",\n    "dev": "x"\n  }\n}',
  })
  expect(sealed).toMatchObject({ changed: 4 })
  expect(textsOf(place, reversed)).toEqual({
    'src/a.js': 'old',
    'test/a.test.js': 'lax',
    'test/new.test.js': 'new',
    'package.json': '{\n  "version": "1",\n  "scripts": {\n    "test": "true"\n  }\n}',
  })
})

test('work alone leaves the tree as it is', async () => {
  const place = await makeRepository({ 'a.js': 'old', 'a.test.js': 'x' })
  place.write('a.js', 'new')
  const { sealed } = await bothWays(place, { checks: ['node --test'] })
  expect(sealed).toEqual({ tree: place.git('rev-parse', 'HEAD^{tree}'), changed: 0 })
})

test('executable bits, links and odd names survive', async () => {
  const place = await makeRepository({ 'check.sh': 'strict', 'test/täst "1"\n2.js': 'strict', 'a.js': '' })
  chmodSync(join(place.dir, 'check.sh'), 0o755)
  symlinkSync('a.js', join(place.dir, 'test/link.js'))
  place.commit('Start again')
  chmodSync(join(place.dir, 'check.sh'), 0o644)
  rmSync(join(place.dir, 'test/link.js'))
  place.write('test/link.js', 'lax')
  place.write('test/täst "1"\n2.js', 'lax')
  const { sealed } = await bothWays(place, { checks: ['./check.sh'] })
  const id = 'tree' in sealed ? sealed.tree : ''
  expect(id).toBe(place.git('rev-parse', 'HEAD~1^{tree}'))
})

test('a folder that replaced a file makes room again', async () => {
  const place = await makeRepository({ tests: 'a file\n', 'a.js': '' })
  rmSync(join(place.dir, 'tests'))
  place.write('tests/a.test.js', 'x')
  const { sealed } = await bothWays(place, { checks: [], protect: ['tests'] })
  expect(textsOf(place, sealed)).toEqual({ tests: 'a file', 'a.js': '' })
})

test('what a person allowed stays', async () => {
  const place = await makeRepository({ 'test/a.js': 'old', 'test/b/c.js': 'old', 'check.sh': 'old' })
  for (const path of ['test/a.js', 'test/b/c.js', 'check.sh']) place.write(path, 'new')
  const { sealed } = await bothWays(place, { checks: ['./check.sh'], allowed: ['test/b/c.js', 'check.sh'] })
  expect(textsOf(place, sealed)).toEqual({ 'test/a.js': 'old', 'test/b/c.js': 'new', 'check.sh': 'new' })
})

test('what a person allowed is a file, not the contents of a folder that took its name', async () => {
  const place = await makeRepository({ 'test/a.js': 'old', 'a.md': '' })
  rmSync(join(place.dir, 'test/a.js'))
  place.write('test/a.js/b.js', 'new')
  const { sealed } = await bothWays(place, { checks: [], allowed: ['test/a.js'] })
  expect(textsOf(place, sealed)).toEqual({ 'a.md': '' })
})

test('what cannot be separated is named', async () => {
  const place = await makeRepository({ 'package.json': '{"scripts":{"test":"x"}}', 'src/a.rs': '#[test]\nfn a() {}' })
  place.write('package.json', '{"scripts":')
  place.write('src/a.rs', '#[test]\nfn a() {')
  const { sealed } = await bothWays(place, { checks: ['npm test'] })
  expect(sealed).toEqual({ cannot: 'tests and work cannot be separated', paths: ['package.json', 'src/a.rs'] })
})

test('a missing tree is reported', async () => {
  const place = await makeRepository()
  const tree = place.git('rev-parse', 'HEAD^{tree}')
  const gone = '1'.repeat(40)
  expect(await readMeansBetween(place.repo, gone, tree, { dir: '', checks: [] })).toBeUndefined()
  const built = await buildTree(place.repo, { base: tree, from: gone, means: new Map(), index: '/nowhere' })
  expect(built).toMatchObject({ cannot: 'git cannot read one of the states' })
})
