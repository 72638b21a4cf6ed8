import { execFileSync, spawn } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { BRANCH, LOOP, type Machine, openMachine } from './machine.test-support.ts'
import { isAlive } from './place.test-support.ts'
import { openProofPlace } from './proof-place.ts'
import { makeRemote, type Remote } from './remote.test-support.ts'
import { openRepoCache } from './repo-cache.ts'
import { holdTask, mergePlace, sweepTasks } from './task-traces.ts'
import { openTaskTree } from './task-tree.ts'

let remote: Remote
let machine: Machine

beforeEach(async () => {
  remote = await makeRemote({ 'a.txt': 'a\n', '.gitignore': '.env\n' })
  machine = openMachine(remote)
})

const mirrorOf = async () => (await openRepoCache(machine.home).open(remote.url)).top

describe('the worktree of a task', () => {
  test('starts at the newest commit of its base, on its own branch', async () => {
    const commit = remote.commit({ 'b.txt': 'b\n' })
    const open = await machine.begin()
    expect(open).toEqual({
      kind: 'open',
      tree: `${remote.tip('main^{tree}')} ${commit}`,
      work: {
        dir: join(machine.home, 'worktrees', LOOP),
        gitDir: machine.git('rev-parse', '--absolute-git-dir'),
        worktree: {
          from: await mirrorOf(),
          path: join(machine.home, 'worktrees', LOOP),
          branch: BRANCH,
          commit,
          base: 'main',
        },
      },
    })
    expect(await (await machine.tree()).look()).toBe(open.tree)
    expect(machine.git('status', '--porcelain', '--branch')).toBe(`## ${BRANCH}`)
  })

  test('starts at the given commit', async () => {
    const at = remote.tip('main')
    remote.commit({ 'b.txt': 'b\n' })
    const open = await openTaskTree({ ...machine.place, base: 'main', at })
    expect(open).toMatchObject({ work: { worktree: { commit: at } } })
  })

  test.each<[string, { base?: string; at?: string }, string]>([
    ['a base that does not exist', { base: 'nope' }, "couldn't find remote ref refs/heads/nope."],
    [
      'a commit that does not exist',
      { at: '1'.repeat(40) },
      'The commit 1111111111111111111111111111111111111111 is no longer in',
    ],
  ])('is refused for %s', async (_, asked, why) => {
    const open = await openTaskTree({ ...machine.place, base: 'main', ...asked })
    expect(open).toEqual({ kind: 'refused', why: expect.stringContaining(why) })
  })

  test.each(['', '-x', '*', 'a b', 'a:b', 'main:refs/heads/other', 'a..b', 'a@{1}', 'a.lock'])(
    'has no base of that name: %s',
    async (base) => {
      await expect(openTaskTree({ ...machine.place, base })).rejects.toThrow('is not a valid branch name')
    },
  )

  test('waits for an unavailable remote', async () => {
    renameSync(remote.url, `${remote.url}-away`)
    expect(await openTaskTree({ ...machine.place, base: 'main' })).toMatchObject({ kind: 'unreachable' })
  })

  test('starts over, whatever an earlier visit left', async () => {
    await machine.begin()
    await machine.work(1, { 'b.txt': 'b\n', '.env': 'x' })
    machine.git('commit', '--quiet', '--allow-empty', '--message', 'Mine')
    writeFileSync(join(machine.git('rev-parse', '--absolute-git-dir'), 'index.lock'), '')
    machine.git('worktree', 'lock', '.')
    const open = await openTaskTree({ ...machine.place, base: 'main' })
    expect(open.kind).toBe('open')
    expect(machine.git('status', '--porcelain', '--ignored')).toBe('')
    expect(machine.git('rev-parse', 'HEAD')).toBe(remote.tip('main'))
    expect(machine.git('for-each-ref', 'refs/ralph/')).toBe('')
  })

  test('gets the files that a person put there for all tasks, if git ignores them', async () => {
    const from = await mirrorOf()
    writeFileSync(join(from, '.env'), 'KEY=1\n')
    const open = await openTaskTree({ ...machine.place, base: 'main', copied: ['.env'], setup: 'make' })
    expect(open).toMatchObject({ work: { worktree: { copied: ['.env'], setup: 'make' } } })
    expect(readFileSync(join(machine.home, 'worktrees', LOOP, '.env'), 'utf8')).toBe('KEY=1\n')
    writeFileSync(join(from, 'key.pem'), 'secret\n')
    await expect(openTaskTree({ ...machine.place, base: 'main', copied: ['key.pem'] })).rejects.toThrow(
      'does not ignore',
    )
  })

  test('belongs to one task, while others work alongside', async () => {
    const others = Array.from({ length: 4 }, (_, n) =>
      openMachine(remote, { home: machine.home, loop: `${LOOP}-${n}`, branch: `${BRANCH}-${n}` }),
    )
    await Promise.all([machine, ...others].map((each) => each.begin()))
    await Promise.all(others.map((each) => each.close()))
    expect(machine.git('status', '--porcelain')).toBe('')
    expect(readdirSync(join(machine.home, 'worktrees'))).toEqual([LOOP])
  })

  test('does not obey what the agent of another task wrote into the configuration', async () => {
    const other = openMachine(remote, { home: machine.home, loop: `${LOOP}-0`, branch: `${BRANCH}-0` })
    await other.begin()
    other.git('config', 'core.fsmonitor', 'evil')
    other.git('config', 'user.name', 'Other')
    await machine.begin()
    expect(() => machine.git('config', 'core.fsmonitor')).toThrow()
    expect(machine.git('config', 'user.name')).toBe('Other')
  })
})

describe('a task that has ended', () => {
  /** What is left of a home except the mirror and the lock files. */
  const left = (home: string) =>
    readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.includes(LOOP) || path.includes('T1'),
    )

  test('leaves nothing on this machine', async () => {
    const { work } = await machine.begin()
    await machine.work(1, { 'b.txt': 'b\n' })
    machine.git('branch', 'mine')
    machine.git('tag', 'v1')
    machine.git('stash', '--include-untracked')
    const { checkpoints } = await machine.tree()
    if ('none' in checkpoints) throw new Error(checkpoints.none)
    const { signal } = new AbortController()
    await openProofPlace({ repo: checkpoints.repo, home: machine.home, loop: LOOP, dir: work.dir, env: {}, signal })
    await machine.close()
    expect(left(machine.home)).toEqual([])
    const refs = execFileSync('git', ['for-each-ref', '--format=%(refname)'], {
      cwd: await mirrorOf(),
      encoding: 'utf8',
    })
    expect(refs.trim()).toBe('refs/remotes/origin/main')
    await machine.close()
  })

  test('is swept with what still runs for it, and no other one', async () => {
    const other = openMachine(remote, { home: machine.home, loop: `${LOOP}-0`, branch: `${BRANCH}-0` })
    const { work } = await machine.begin()
    await other.begin()
    const env = { ...process.env, RALPH_LOOP_ID: LOOP }
    const here = spawn('sleep', ['600'], { cwd: work.dir, env })
    const elsewhere = spawn('sleep', ['600'], { cwd: remote.url, env })
    expect(await sweepTasks(machine.home, (loop) => loop !== LOOP)).toEqual([LOOP])
    expect([here, elsewhere].map(({ pid = 0 }) => isAlive(pid))).toEqual([false, true])
    elsewhere.kill('SIGKILL')
    expect(readdirSync(join(machine.home, 'worktrees'))).toEqual([`${LOOP}-0`])
    expect(await sweepTasks(machine.home, () => true)).toEqual([])
  })

  test.each<[string, (home: string) => void | Promise<void>]>([
    ['its folder was removed', (home) => rmSync(join(home, 'worktrees', LOOP), { recursive: true })],
    ['its link was removed', (home) => rmSync(join(home, 'worktrees', LOOP, '.git'))],
    [
      'it is another repository now',
      (home) => {
        rmSync(join(home, 'worktrees', LOOP, '.git'))
        execFileSync('git', ['init', '--quiet'], { cwd: join(home, 'worktrees', LOOP) })
      },
    ],
    ['its mirror is missing', async () => rmSync(join(await mirrorOf(), '.git'), { recursive: true })],
    ['it was locked by a killed git', () => void machine.git('worktree', 'lock', '.')],
  ])('is swept although %s', async (_, damage) => {
    await machine.begin()
    await damage(machine.home)
    expect(await sweepTasks(machine.home, () => false)).toEqual([LOOP])
    expect(left(machine.home)).toEqual([])
    expect(await openTaskTree({ ...machine.place, base: 'main' })).toMatchObject({ kind: 'open' })
  })

  test('is not swept while a process of this machine drives it', async () => {
    await machine.begin()
    const held = holdTask(machine.home, LOOP)
    expect(holdTask(machine.home, LOOP)).toBeUndefined()
    expect(await sweepTasks(machine.home, () => false)).toEqual([])
    held?.release()
    expect(await sweepTasks(machine.home, () => false)).toEqual([LOOP])
  })

  test('is swept with the place in which it was being merged', async () => {
    await openRepoCache(machine.home).fetch(remote.url, ['refs/heads/main'])
    const [top, path] = [await mirrorOf(), mergePlace(machine.home, LOOP)]
    execFileSync('git', ['worktree', 'add', '--quiet', '--detach', path, 'origin/main'], { cwd: top })
    await sweepTasks(machine.home, () => true)
    expect(existsSync(path)).toBe(true)
    await sweepTasks(machine.home, () => false)
    expect([existsSync(path), existsSync(join(top, '.git/worktrees', LOOP))]).toEqual([false, false])
  })

  test('leaves a mirror that git cleans up, and whose other tasks continue', async () => {
    const other = openMachine(remote, { home: machine.home, loop: `${LOOP}-0`, branch: `${BRANCH}-0` })
    await machine.begin()
    await other.begin()
    await other.work(1, { 'b.txt': 'b\n' })
    const cwd = await mirrorOf()
    const git = (args: string[], input: string) => execFileSync('git', args, { cwd, input, encoding: 'utf8' })
    const folder = join(cwd, '.git/objects/pack')
    const made = git(['pack-objects', '--quiet', '.git/objects/pack/pack'], git(['hash-object', '-w', '--stdin'], 'x'))
    // git counts files: the same pack many times counts as many packs.
    for (let n = 0; n < 55; n++)
      for (const kind of ['pack', 'idx'])
        copyFileSync(
          join(folder, `pack-${made.trim()}.${kind}`),
          join(folder, `pack-${`${n}`.padStart(40, '0')}.${kind}`),
        )
    const packs = () => readdirSync(folder).filter((name) => name.endsWith('.pack')).length
    expect(packs()).toBeGreaterThan(50)
    await machine.close()
    expect(packs()).toBeLessThan(5)
    await other.work(2, { 'c.txt': 'c\n' })
    expect(await other.push(2, 1)).toMatchObject({ kind: 'pushed' })
    expect(other.git('fsck', '--connectivity-only')).not.toContain('missing')
  })

  test('leaves the worktrees of people alone', async () => {
    await machine.begin()
    mkdirSync(join(machine.home, 'worktrees', 'theirs'))
    await sweepTasks(machine.home, () => false)
    expect(existsSync(join(machine.home, 'worktrees', 'theirs'))).toBe(true)
  })
})
