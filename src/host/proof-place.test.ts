import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRepository } from './git.ts'
import { canMount, smallDisk, temporaryFolder } from './place.test-support.ts'
import { everythingIn, LOOP, openPlace, shown } from './proof-place.test-support.ts'
import { openProofPlace } from './proof-place.ts'
import { makeRepository, makeWorktree, type TestRepository } from './repository.test-support.ts'

const PROJECT = {
  '.gitignore': 'node_modules\ndist\n.env\n*.db\n',
  'src/value.txt': 'one\n',
  'test/value.txt': 'one\n',
  'check.sh': 'mkdir -p dist\ncp src/value.txt dist/\ncmp dist/value.txt test/value.txt\n',
}

type Project = { main: TestRepository; start: string; now: string }

/** A project, and the tree objects of its first and its second state. */
async function makeProject(): Promise<Project> {
  const main = await makeRepository(PROJECT)
  const start = main.git('rev-parse', 'HEAD^{tree}')
  main.commit('Second', { 'src/value.txt': 'two\n', 'src/new.txt': 'new\n' })
  return { main, start, now: main.git('rev-parse', 'HEAD^{tree}') }
}

test('shows one tree after another and runs checks there', async () => {
  const { main, start, now } = await makeProject()
  const place = await openPlace(main)
  expect(await place.run(start, 'sh check.sh')).toBe('pass')
  expect(await place.run(now, 'sh check.sh')).toMatch(/^fail: .*differ/)
  expect(await place.run(start, 'sh check.sh')).toBe('pass')
  expect(await place.run(start, 'test ! -e src/new.txt')).toBe('pass')
})

test('leaves no trace in the repository, and changes nothing of the person', async () => {
  const { main, start, now } = await makeProject()
  main.write('.env', 'SECRET=1\n')
  main.write('staged.txt', 'staged\n')
  main.git('add', 'staged.txt')
  main.git('stash', 'push', '--quiet', 'staged.txt')
  main.write('src/value.txt', 'uncommitted\n')
  const before = everythingIn(main.dir)
  const place = await openPlace(main)
  expect(await place.run(start, 'sh check.sh')).toBe('pass')
  expect(await place.run(now, 'sh check.sh')).toMatch(/^fail/)
  await place.remove()
  expect(everythingIn(main.dir)).toEqual(before)
  expect(existsSync(join(place.home, 'proof', LOOP))).toBe(false)
})

test('files that two trees share keep their times', async () => {
  const { main, start, now } = await makeProject()
  const place = await openPlace(main)
  const times = (dir: string) =>
    ['check.sh', 'test/value.txt', 'src/value.txt'].map((name) => statSync(join(dir, name), { bigint: true }).mtimeNs)
  const [first = 0n, second = 0n, third = 0n] = times(await shown(place, start))
  const [check = 0n, shared = 0n, changed = 0n] = times(await shown(place, now))
  expect([check, shared]).toEqual([first, second])
  expect(changed).toBeGreaterThan(third)
})

test('what a check left does not reach the next one, except what git ignores', async () => {
  const { main, start, now } = await makeProject()
  const place = await openPlace(main)
  const leave =
    'mkdir -p dist new sub/.git; for f in left.txt new/left.txt sub/x dist/built src/value.txt; do echo x > $f; done'
  expect(await place.run(start, `sh -c '${leave}; git init -q nested; rm check.sh'`)).toBe('pass')
  const dir = await shown(place, start)
  expect(
    ['left.txt', 'new', 'sub', 'nested', 'dist/built', 'check.sh'].filter((name) => existsSync(join(dir, name))),
  ).toEqual(['dist/built', 'check.sh'])
  expect(readFileSync(join(dir, 'src/value.txt'), 'utf8')).toBe('one\n')
  await shown(place, now, { fresh: true })
  expect(existsSync(join(dir, 'dist'))).toBe(false)
})

test('a change that a check hides from git is undone as well', async () => {
  const { main, start } = await makeProject()
  main.git('config', 'core.trustctime', 'false')
  const place = await openPlace(main)
  const hide = 'touch -r test/value.txt /tmp/$$; echo two > test/value.txt; touch -r /tmp/$$ test/value.txt; rm /tmp/$$'
  expect(await place.run(start, `sh -c '${hide}; git update-index --assume-unchanged test/value.txt'`)).toBe('pass')
  expect(readFileSync(join(await shown(place, start), 'test/value.txt'), 'utf8')).toBe('one\n')
})

test('build output, databases and settings are absent unless they are copied on request', async () => {
  const { main, start } = await makeProject()
  for (const name of ['dist/old.js', '.env', 'data/dev.db']) main.write(name, 'theirs\n')
  const bare = await openPlace(main)
  const dir = await shown(bare, start)
  expect(['dist', '.env', 'data'].filter((name) => existsSync(join(dir, name)))).toEqual([])
  await bare.remove()
  const place = await openPlace(main, { copied: ['.env', 'data/dev.db', 'check.sh', 'missing'] })
  expect(await place.run(start, "sh -c 'echo changed >> data/dev.db && echo changed >> .env'")).toBe('pass')
  expect(main.read('data/dev.db')).toBe('theirs\n')
  const again = await shown(place, start)
  expect(readFileSync(join(again, 'data/dev.db'), 'utf8')).toBe('theirs\n')
  expect(readFileSync(join(again, 'check.sh'), 'utf8')).toBe(PROJECT['check.sh'])
})

test('nothing is copied through a link in a tree', async () => {
  const { main, now } = await makeProject()
  const outside = temporaryFolder()
  symlinkSync(outside, join(main.dir, 'data'))
  main.commit('A link')
  const linked = main.git('rev-parse', 'HEAD^{tree}')
  rmSync(join(main.dir, 'data'))
  main.write('data/dev.db', 'theirs\n')
  const place = await openPlace(main, { copied: ['data/dev.db'] })
  expect(await shown(place, linked)).toBe('data is not a folder in the tree under test.')
  expect(readdirSync(outside)).toEqual([])
  expect(await place.run(now, 'test -f data/dev.db')).toBe('pass')
})

test('a setup command runs once, and instead of links', async () => {
  const { main, start, now } = await makeProject()
  main.write('node_modules/dep/index.js', 'theirs\n')
  const setup =
    "sh -c 'mkdir -p node_modules/dep && echo own > node_modules/dep/index.js && echo x >> node_modules/runs && echo x > check.sh'"
  const place = await openPlace(main, { setup })
  expect(place.env).not.toHaveProperty('PIP_DRY_RUN')
  expect(await place.run(start, 'sh check.sh')).toBe('pass')
  expect(await place.run(now, 'grep own node_modules/dep/index.js')).toBe('pass')
  const dir = await shown(await openPlace(main, { setup, home: place.home }), now)
  expect(readFileSync(join(dir, 'node_modules/runs'), 'utf8')).toBe('x\n')
  await shown(place, start, { fresh: true })
  expect(readFileSync(join(dir, 'node_modules/runs'), 'utf8')).toBe('x\n')
  expect(main.read('node_modules/dep/index.js')).toBe('theirs\n')
})

test('a setup that builds runs for every tree', async () => {
  const { main, start, now } = await makeProject()
  const place = await openPlace(main, { setup: 'cp src/value.txt built.db' })
  expect(await place.run(now, 'cmp src/value.txt built.db')).toBe('pass')
  expect(await place.run(start, 'cmp src/value.txt built.db')).toBe('pass')
})

test('a failing setup command is named', async () => {
  const { main, start } = await makeProject()
  const place = await openPlace(main, { setup: "sh -c 'echo no such package >&2; exit 3'" })
  expect(await shown(place, start)).toBe(
    "proof_setup (sh -c 'echo no such package >&2; exit 3') failed: no such package.",
  )
  const missing = await openPlace(main, { setup: 'no-such-program' })
  expect(await shown(missing, start)).toBe('proof_setup (no-such-program) failed: "no-such-program" was not found.')
})

test('a setup command that takes too long is stopped', async () => {
  const { main, start } = await makeProject()
  const place = await openPlace(main, { setup: 'sleep 60' })
  expect(await shown(place, start, { minutes: 0.005 })).toBe(
    'proof_setup (sleep 60) took longer than the time allowed for experiments.',
  )
})

test('paths of the repository in a check and its environment point into the place', async () => {
  const { main, start } = await makeProject()
  const env = {
    PATH: `${main.dir}/.venv/bin:/usr/bin`,
    VIRTUAL_ENV: `${main.dir}/.venv`,
    HOME: '/home/me',
    RALPH_X: main.dir,
  }
  const place = await openPlace(main, { env })
  const dir = await shown(place, start)
  expect(place.translate(`sh ${main.dir}/check.sh`)).toBe(`sh ${dir}/check.sh`)
  expect(place.translate('npm test -- "a b"')).toBe('npm test -- "a b"')
  expect(place.env).toMatchObject({
    PATH: `${dir}/.venv/bin:/usr/bin`,
    VIRTUAL_ENV: `${dir}/.venv`,
    PYTHONDONTWRITEBYTECODE: '1',
  })
  expect(place.env).not.toHaveProperty('HOME')
  expect(place.env).not.toHaveProperty('RALPH_X')
  expect(await place.run(start, `sh -c 'cd "${main.dir}" && echo x > written && test "$PWD" != "${main.dir}-"'`)).toBe(
    'pass',
  )
  expect(main.read('written')).toBeUndefined()
})

test('works in a subfolder of the repository, even before it exists', async () => {
  const main = await makeRepository({ 'README.md': 'empty\n' })
  const start = main.git('rev-parse', 'HEAD^{tree}')
  main.commit('App', { 'packages/app/check.sh': 'test -f check.sh\n' })
  const place = await openPlace(main, { dir: join(main.dir, 'packages/app') })
  expect(await place.run(main.git('rev-parse', 'HEAD^{tree}'), 'sh check.sh')).toBe('pass')
  expect(await place.run(start, 'sh check.sh')).toMatch(/^fail/)
})

test('works in a linked worktree, and next to it', async () => {
  const { main, now } = await makeProject()
  const task = await makeWorktree(main)
  const before = everythingIn(main.dir)
  const place = await openPlace(task)
  expect(await place.run(now, 'test -f src/new.txt')).toBe('pass')
  await place.remove()
  expect(everythingIn(main.dir)).toEqual(before)
  expect(task.status()).toEqual([])
})

test.each([
  'git config core.sparseCheckout true',
  'git config extensions.worktreeConfig true',
  'git sparse-checkout set src',
])('takes all files after %s', async (command) => {
  const { main, start, now } = await makeProject()
  main.git('sparse-checkout', 'set', 'src')
  main.git(...command.split(' ').slice(1))
  expect(main.read('test/value.txt')).toBeUndefined()
  const before = everythingIn(main.dir)
  const place = await openPlace(main)
  expect(await place.run(start, 'sh check.sh')).toBe('pass')
  expect(await place.run(now, 'sh check.sh')).toMatch(/^fail/)
  await place.remove()
  expect(everythingIn(main.dir)).toEqual(before)
})

test('a sparse checkout of a partial clone is not fetched completely', async () => {
  const { main } = await makeProject()
  const dir = join(temporaryFolder(), 'clone')
  main.git('config', 'uploadpack.allowFilter', 'true')
  main.git('clone', '--quiet', '--filter=blob:none', '--sparse', `file://${main.dir}`, dir)
  await expect(openPlace(await at(main, dir))).rejects.toThrow(/is a sparse checkout of a partial clone/)
})

/** A repository at this folder, as a loop finds it. */
async function at(main: TestRepository, dir: string): Promise<TestRepository> {
  const repo = await openRepository(dir)
  if ('none' in repo) throw new Error(repo.none)
  return { ...main, dir, repo }
}

test('works inside a submodule, in a worktree of a bare repository, and with a home in the repository', async () => {
  const { main, now } = await makeProject()
  const folder = temporaryFolder()
  main.git('clone', '--quiet', '--bare', main.dir, join(folder, 'bare.git'))
  main.git('--git-dir', join(folder, 'bare.git'), 'worktree', 'add', '--quiet', join(folder, 'linked'), 'main')
  const outer = await makeRepository()
  outer.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', main.dir, 'sub')
  mkdirSync(join(main.dir, '.ralph'))
  const where = [[join(folder, 'linked')], [join(outer.dir, 'sub')], [main.dir, join(main.dir, '.ralph')]] as const
  for (const [dir, home = temporaryFolder()] of where) {
    const place = await openPlace(await at(main, dir), { home })
    expect(await place.run(now, `test -f ${dir}/src/new.txt`)).toBe('pass')
    expect(await place.run(now, "sh -c 'git status --porcelain && git log -1'")).toBe('pass')
    await place.remove()
  }
  expect(readdirSync(join(outer.dir, '.git/modules/sub'))).not.toContain('worktrees')
  expect(readdirSync(join(folder, 'bare.git/worktrees'))).toEqual(['linked'])
})

test('a submodule is an empty folder there', async () => {
  const { main } = await makeProject()
  const other = await makeRepository()
  main.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other.dir, 'sub')
  main.git('config', 'submodule.recurse', 'true')
  main.commit('A submodule')
  const before = everythingIn(main.dir)
  const place = await openPlace(main)
  expect(await place.run(main.git('rev-parse', 'HEAD^{tree}'), 'test -d sub -a ! -e sub/a.txt')).toBe('pass')
  await place.remove()
  expect(everythingIn(main.dir)).toEqual(before)
})

test('filters of the repository change nothing there, and a missing git-lfs stops nothing', async () => {
  const main = await makeRepository({ 'a.test.js': 'equal(1, 2)\n', 'large.bin': 'a pointer\n' })
  main.commit('Attributes', { '.gitattributes': '*.test.js filter=bend=it\n*.bin filter=lfs\n' })
  main.git('config', 'filter.bend=it.smudge', 'sed s/1/2/')
  main.git('config', 'filter.bend=it.required', 'true')
  main.git('config', 'filter.lfs.process', 'no-such-git-lfs filter-process')
  main.git('config', 'filter.lfs.required', 'true')
  const dir = await shown(await openPlace(main), main.git('rev-parse', 'HEAD^{tree}'))
  expect(readFileSync(join(dir, 'a.test.js'), 'utf8')).toBe('equal(1, 2)\n')
  expect(readFileSync(join(dir, 'large.bin'), 'utf8')).toBe('a pointer\n')
})

test('works before the first commit', async () => {
  const dir = temporaryFolder()
  const main = await makeRepository()
  main.git('init', '--quiet', dir)
  const repo = await openRepository(dir)
  if ('none' in repo) throw new Error(repo.none)
  const blob = await repo.ask(['hash-object', '-w', '--stdin'], { stdin: 'x\n' })
  const tree = await repo.ask(['mktree'], { stdin: `100644 blob ${blob.ok && blob.out}\tx.txt\n` })
  const place = await openPlace({ ...main, dir, repo })
  expect(await place.run(tree.ok ? tree.out : '', 'test -f x.txt')).toBe('pass')
  await place.remove()
  expect((await repo.ask(['worktree', 'list'])).ok).toBe(true)
})

test('says that the repository is missing or was replaced', async () => {
  const { main, now } = await makeProject()
  const place = await openPlace(main)
  await shown(place, now)
  renameSync(join(main.dir, '.git'), join(temporaryFolder(), 'moved'))
  await expect(openPlace(main)).rejects.toThrow(/^The repository of .* cannot be used: .*no longer a git repository/)
  expect(await shown(place, now)).toMatch(/no longer has the files of tree/)
  main.git('init', '--quiet')
  expect(await shown(place, now)).toMatch(/no longer has the files of tree/)
  await place.remove()
  expect(existsSync(join(place.home, 'proof', LOOP))).toBe(false)
})

test('says that a tree is missing', async () => {
  const { main } = await makeProject()
  const none = '1234567890123456789012345678901234567890'
  expect(await shown(await openPlace(main), none)).toBe(
    `The repository ${main.dir} no longer has the files of tree ${none}.`,
  )
})

test('says that git is too old', async () => {
  const { main } = await makeProject()
  const bin = temporaryFolder()
  writeFileSync(join(bin, 'git'), '#!/bin/sh\necho git version 2.25.1\n', { mode: 0o755 })
  const path = process.env.PATH
  process.env.PATH = `${bin}:${path}`
  try {
    await expect(openPlace(main)).rejects.toThrow(/^git version 2\.25\.1 is too old .*: 2\.31 or later is needed\.$/)
  } finally {
    process.env.PATH = path
  }
})

test.runIf(canMount)('says that the disk is full, or cannot be written', async () => {
  const main = await makeRepository({ 'large.txt': 'x'.repeat(2_000_000) })
  const disk = smallDisk('size=1m')
  const tree = main.git('rev-parse', 'HEAD^{tree}')
  const place = await openPlace(main, { home: disk.path })
  expect(await shown(place, tree)).toBe('No space left for a worktree to run experiments in.')
  await place.remove()
  disk.remount('ro')
  await expect(openPlace(main, { home: disk.path })).rejects.toThrow(/cannot be written/)
  expect(main.git('worktree', 'list').split('\n')).toHaveLength(1)
})

test.each([0, 1, 2, 4, 6, 8, 10, 12, 15, 20])('an interruption after %d ms leaves nothing behind', async (ms) => {
  const { main } = await makeProject()
  const interrupt = new AbortController()
  if (ms === 0) interrupt.abort()
  else setTimeout(() => interrupt.abort(), ms)
  const place = await openProofPlace({
    repo: main.repo,
    home: temporaryFolder(),
    loop: LOOP,
    dir: main.dir,
    env: {},
    signal: interrupt.signal,
  })
  if ('cannot' in place) expect(place.cannot).toBe('git failed: it was interrupted')
  else await place.remove() // it was faster
  expect(main.git('worktree', 'list').split('\n')).toHaveLength(1)
})
