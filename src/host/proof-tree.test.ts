import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually, running, source, startScript, temporaryFolder } from './place.test-support.ts'
import { reap } from './process-tree.ts'
import { everythingIn, LOOP, openPlace, shown } from './proof-place.test-support.ts'
import { sweepPlaces } from './proof-tree.ts'
import { makeRepository, makeWorktree, type TestRepository } from './repository.test-support.ts'

const treeOf = (main: TestRepository) => main.git('rev-parse', 'HEAD^{tree}')
const entries = (main: TestRepository) =>
  existsSync(join(main.dir, '.git/worktrees')) ? readdirSync(join(main.dir, '.git/worktrees')) : []
const nobody = async () => false

test('an earlier place is reused with what was built in it', async () => {
  const main = await makeRepository({ '.gitignore': 'dist\n' })
  const first = await openPlace(main)
  expect(await first.run(treeOf(main), "sh -c 'mkdir dist && echo x > dist/built'")).toBe('pass')
  const second = await openPlace(main, { home: first.home })
  expect(await second.run(treeOf(main), 'test -f dist/built')).toBe('pass')
  expect(entries(main)).toEqual([`ralph-proof-${LOOP}`])
})

test('only ralph can read it', async () => {
  const main = await makeRepository()
  const { home } = await openPlace(main)
  expect(statSync(join(home, 'proof', LOOP)).mode & 0o777).toBe(0o700)
})

type Broken = { place: string; entry: string; folder: string; main: TestRepository }

/** What is left if ralph or git is killed, or somebody cleans up. */
const BROKEN: [left: string, breaks: (broken: Broken) => void][] = [
  [
    'only the folder',
    ({ place, entry }) => {
      rmSync(place, { recursive: true })
      rmSync(entry, { recursive: true })
    },
  ],
  ['no files', ({ place }) => rmSync(place, { recursive: true })],
  ['no record of it in the repository', ({ entry }) => rmSync(entry, { recursive: true })],
  ['files without a link', ({ place }) => rmSync(join(place, '.git'))],
  [
    'an entry that git has just started',
    ({ place, entry }) => {
      rmSync(place, { recursive: true })
      rmSync(entry, { recursive: true })
      mkdirSync(entry)
      writeFileSync(join(entry, 'locked'), 'initializing')
    },
  ],
  ['an entry without a commit', ({ entry }) => writeFileSync(join(entry, 'HEAD'), `${'0'.repeat(40)}\n`)],
  ['a locked index', ({ entry }) => writeFileSync(join(entry, 'index.lock'), '')],
  ['a damaged index', ({ entry }) => writeFileSync(join(entry, 'index'), 'DIRC?')],
  ['no record of the repository', ({ folder }) => rmSync(join(folder, 'repository'))],
  [
    "a link to the person's own git folder",
    ({ place, main }) => writeFileSync(join(place, '.git'), `gitdir: ${main.dir}/.git\n`),
  ],
  [
    "a link to the person's files",
    ({ place, main }) => {
      rmSync(place, { recursive: true })
      symlinkSync(main.dir, place)
    },
  ],
  [
    'folders that cannot be written',
    ({ place }) => {
      mkdirSync(join(place, 'cache'))
      writeFileSync(join(place, 'cache/x'), '')
      chmodSync(join(place, 'cache'), 0o500)
    },
  ],
]

test.each(BROKEN)('with %s left, the place is usable again and then removed', async (_, breaks) => {
  const main = await makeRepository({ 'a.txt': 'a\n', 'b/c.txt': 'c\n' })
  main.write('untracked.txt', 'theirs\n')
  const before = everythingIn(main.dir)
  const { home, ...first } = await openPlace(main)
  const place = await shown(first, treeOf(main))
  const folder = join(home, 'proof', LOOP)
  breaks({ place, folder, main, entry: join(main.dir, '.git/worktrees', `ralph-proof-${LOOP}`) })
  const again = await openPlace(main, { home })
  expect(await again.run(treeOf(main), 'test -f a.txt -a -f b/c.txt -a ! -e untracked.txt')).toBe('pass')
  await again.remove()
  expect(everythingIn(main.dir)).toEqual(before)
  expect(existsSync(folder)).toBe(false)
})

test.each(BROKEN)('with %s left, a sweep removes it', async (_, breaks) => {
  const main = await makeRepository()
  const before = everythingIn(main.dir)
  const { home, ...first } = await openPlace(main)
  const place = await shown(first, treeOf(main))
  const folder = join(home, 'proof', LOOP)
  breaks({ place, folder, main, entry: join(main.dir, '.git/worktrees', `ralph-proof-${LOOP}`) })
  await sweepPlaces(home, nobody)
  expect(readdirSync(join(home, 'proof'))).toEqual([])
  expect(everythingIn(main.dir)).toEqual(before)
})

test('a sweep leaves the places of loops that are being driven', async () => {
  const main = await makeRepository()
  const home = temporaryFolder()
  await sweepPlaces(home, nobody) // nothing is there yet
  const driven = await openPlace(main, { home, loop: 'driven' })
  await openPlace(main, { home, loop: 'left' })
  await sweepPlaces(home, async (loop) => loop === 'driven')
  expect(readdirSync(join(home, 'proof'))).toEqual(['driven'])
  expect(await driven.run(treeOf(main), 'test -f a.txt')).toBe('pass')
  await sweepPlaces(home, nobody)
  expect(entries(main)).toEqual([])
})

test('other worktrees stay, even those that git would prune', async () => {
  const main = await makeRepository()
  const task = await makeWorktree(main)
  main.git('worktree', 'add', '--quiet', '--detach', join(temporaryFolder(), 'gone'))
  main.git('worktree', 'add', '--quiet', '--detach', join(temporaryFolder(), `ralph-proof-${LOOP}`))
  const others = entries(main)
  rmSync(join(main.git('worktree', 'list').match(/\S+\/gone/)?.[0] ?? ''), { recursive: true })
  const place = await openPlace(main)
  await shown(place, treeOf(main))
  expect(entries(main)).toHaveLength(others.length + 1)
  await place.remove()
  expect(entries(main)).toEqual(others)
  expect(task.status()).toEqual([])
})

test('a place whose repository is missing is removed', async () => {
  const main = await makeRepository()
  const place = await openPlace(main)
  rmSync(main.dir, { recursive: true })
  await place.remove()
  expect(readdirSync(join(place.home, 'proof'))).toEqual([])
})

test('several loops create and remove places in one repository at once', async () => {
  const main = await makeRepository()
  const home = temporaryFolder()
  const loops = Array.from({ length: 6 }, (_, index) => `loop${index}`)
  const task = await makeWorktree(main)
  const all = loops.map(async (loop, index) => {
    const place = await openPlace(index % 2 ? main : task, { home, loop })
    const ran = await place.run(treeOf(main), 'test -f a.txt')
    await place.remove()
    return ran
  })
  expect(new Set(await Promise.all(all))).toEqual(new Set(['pass']))
  expect(entries(main)).toEqual(['task'])
})

/** Opens a place again and again, shows two trees in turn, and removes it, until it is killed. */
function startWork(main: TestRepository, home: string, trees: readonly string[], loop: string) {
  return startScript(`
    import { openProofPlace } from ${source('host/proof-place.ts')}
    import { openRepository } from ${source('host/git.ts')}
    const repo = await openRepository(${JSON.stringify(main.dir)})
    const signal = new AbortController().signal
    for (;;) {
      const place = await openProofPlace({ repo, home: ${JSON.stringify(home)}, loop: '${loop}', dir: repo.top, env: {}, signal })
      if ('cannot' in place) throw new Error(place.cannot)
      console.log('opened')
      for (const tree of ${JSON.stringify(trees)}) {
        const shown = await place.show(tree)
        if ('cannot' in shown) throw new Error(shown.cannot)
        console.log('shown')
      }
      await place.remove()
      console.log('removed')
    }
  `)
}

test('separate processes do so at once as well', async () => {
  const main = await makeRepository()
  const home = temporaryFolder()
  const works = ['one', 'two', 'three'].map((loop) => startWork(main, home, [treeOf(main)], loop))
  for (const { lines, ended, pid } of works) {
    const stopped = await Promise.race([
      eventually(() => lines().filter((line) => line === 'removed').length >= 8),
      ended,
    ])
    expect(stopped).toBe(true)
    process.kill(pid, 'SIGKILL')
    await ended
  }
  await sweepPlaces(home, nobody)
  expect(entries(main)).toEqual([])
})

test('a kill at any moment leaves nothing that the next start does not clean up', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [`f${index % 7}/${index}.txt`, `${index}\n`]),
  )
  const main = await makeRepository({ ...files, '.gitignore': 'node_modules\n' })
  const start = treeOf(main)
  main.commit('Second', { 'f0/0.txt': 'changed\n', 'f1/new.txt': 'new\n' })
  main.write('node_modules/dep/index.js', 'theirs\n')
  const before = everythingIn(main.dir)
  const home = temporaryFolder()
  const loop = 'killedat'
  for (let kill = 0; kill < 12; kill++) {
    const work = startWork(main, home, [start, treeOf(main)], loop)
    // The number of lines decides where it is killed: after each step, and a little later.
    const stopped = await Promise.race([eventually(() => work.lines().length > kill % 5), work.ended])
    expect(stopped).toBe(true)
    if (kill >= 5) for (let spin = performance.now() + kill * 3; performance.now() < spin; );
    process.kill(work.pid, 'SIGKILL')
    await work.ended
    await reap(loop)
    expect(running(`RALPH_LOOP_ID=${loop}`)).toEqual([])
    if (kill % 2) continue // the next one reuses it, or creates it again
    await sweepPlaces(home, nobody)
    expect(everythingIn(main.dir)).toEqual(before)
  }
  await sweepPlaces(home, nobody)
  expect(everythingIn(main.dir)).toEqual(before)
  expect(readdirSync(join(home, 'proof'))).toEqual([])
})
