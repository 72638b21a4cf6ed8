import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { marksFile } from './fingerprint.ts'
import { BRANCH, LOOP, type Machine, openMachine } from './machine.test-support.ts'
import { eventually } from './place.test-support.ts'
import { damageObjects, makeRemote, type Remote } from './remote.test-support.ts'
import { openRepoCache } from './repo-cache.ts'
import { takeFence } from './take-fence.ts'
import type { OpenTask } from './task-tree.ts'

let remote: Remote
let one: Machine
let two: Machine
let begun: OpenTask

beforeEach(async () => {
  remote = await makeRemote({ 'a.txt': 'a\n', '.gitignore': 'installed\n' })
  one = openMachine(remote)
  two = openMachine(remote)
  begun = await one.begin()
})

const pushed = async (push: ReturnType<Machine['push']>): Promise<string> => {
  const done = await push
  if (done.kind !== 'pushed') throw new Error(JSON.stringify(done))
  return done.commit
}

const opened = async (taking: ReturnType<Machine['takeOver']>): Promise<OpenTask> => {
  const done = await taking
  if (done.kind !== 'open') throw new Error(JSON.stringify(done))
  return done
}

const known = () => ({ epoch: 2, worktree: begun.work.worktree })

describe('another machine', () => {
  test('continues in the state that the last iteration left, HEAD and index as they were', async () => {
    one.git('rm', '--quiet', '--cached', 'a.txt')
    one.git('commit', '--quiet', '--message', 'Mine')
    await one.work(1, { 'b.txt': 'b\n', 'ä\n.txt': 'odd\n' })
    const first = await pushed(one.push(1, 1))
    one.git('add', 'b.txt')
    const state = await one.work(2, { 'c.txt': 'c\n' })
    const second = await pushed(one.push(2, 1, first))
    const status = one.git('status', '--porcelain', '-z')

    const open = await opened(two.takeOver({ ...known(), iteration: 2, tree: state, pushed: second }))
    expect(open.tree).toBe(state)
    expect(await (await two.tree()).look()).toBe(state)
    expect(two.git('status', '--porcelain', '-z')).toBe(status)
    expect(two.git('symbolic-ref', 'HEAD')).toBe(`refs/heads/${BRANCH}`)
    expect(two.git('rev-parse', 'HEAD')).toBe(one.git('rev-parse', 'HEAD'))
    for (const n of ['0', '1', '2', 'now'])
      expect(two.git('rev-parse', `refs/ralph/${LOOP}/${n}`)).toBe(one.git('rev-parse', `refs/ralph/${LOOP}/${n}`))
    expect(open.work).toEqual({
      dir: join(two.home, 'worktrees', LOOP),
      gitDir: two.git('rev-parse', '--absolute-git-dir'),
      worktree: { ...begun.work.worktree, path: join(two.home, 'worktrees', LOOP), from: open.work.worktree.from },
    })
  })

  test('pushes what it adds, and the first can take it back', async () => {
    await one.work(1, { 'b.txt': 'b\n' })
    const first = await pushed(one.push(1, 1))
    await opened(two.takeOver({ ...known(), iteration: 1, pushed: first }))
    await two.work(2, { 'c.txt': 'c\n' })
    const second = await pushed(two.push(2, 2, first))
    await one.work(2, { 'late.txt': 'late\n' }) // it does not know yet
    await opened(one.takeOver({ ...known(), epoch: 3, iteration: 2, pushed: second }))
    expect(one.git('status', '--porcelain').split('\n')).toEqual(['?? b.txt', '?? c.txt'])
    await one.work(3, { 'd.txt': 'd\n' })
    await pushed(one.push(3, 3, second))
    expect(remote.git('log', '--format=%s', BRANCH).split('\n')).toEqual([
      ...[3, 2, 1].map((n) => `task T1 (iteration ${n})`),
      'Start',
    ])
  })

  test('that worked on it before keeps what was installed there', async () => {
    await one.work(1, { 'b.txt': 'b\n', installed: 'yes' })
    const first = await pushed(one.push(1, 1))
    await opened(two.takeOver({ ...known(), iteration: 1, pushed: first }))
    const state = await two.work(2, { 'c.txt': 'c\n' })
    const second = await pushed(two.push(2, 2, first))
    await one.work(2, { 'late.txt': 'late\n' })
    writeFileSync(join(one.git('rev-parse', '--absolute-git-dir'), 'index.lock'), '')
    const open = await opened(one.takeOver({ ...known(), epoch: 3, iteration: 2, tree: state, pushed: second }))
    expect(await (await one.tree()).look()).toBe(state)
    expect(one.git('status', '--porcelain', '--ignored').split('\n')).toEqual(['?? b.txt', '?? c.txt', '!! installed'])
    expect(one.git('rev-parse', `refs/ralph/${LOOP}/2`)).toBe(two.git('rev-parse', `refs/ralph/${LOOP}/2`))
    expect(open.work).toEqual(begun.work)
  })

  test('whose mirror was damaged continues nevertheless', async () => {
    const state = await one.work(1, { 'b.txt': 'b\n' })
    const first = await pushed(one.push(1, 1))
    const other = openMachine(remote, { home: two.home, loop: `${LOOP}-0`, branch: `${BRANCH}-0` })
    await other.begin()
    damageObjects((await openRepoCache(two.home).open(remote.url)).commonDir)
    await opened(two.takeOver({ ...known(), iteration: 1, tree: state, pushed: first }))
    expect(await (await two.tree()).look()).toBe(state)
  })

  test('starts again where the task started, if nothing was pushed', async () => {
    remote.commit({ 'new.txt': 'new\n' })
    await one.work(1, { 'b.txt': 'b\n' })
    const open = await opened(two.takeOver({ ...known(), iteration: 0, tree: begun.tree }))
    expect(open.tree).toBe(begun.tree)
    expect(two.git('status', '--porcelain')).toBe('')
    expect(two.git('rev-parse', 'HEAD')).toBe(begun.work.worktree.commit)
    expect(two.git('rev-parse', `refs/ralph/${LOOP}/0^{tree}`)).toBe(
      one.git('rev-parse', `refs/ralph/${LOOP}/0^{tree}`),
    )
  })

  test('has everything recorded at the start, if that was pushed', async () => {
    mkdirSync(join(one.home, 'proof'))
    writeFileSync(marksFile(one.home, LOOP), '{"files":{}}')
    const start = await pushed(one.push(0, 1))
    expect(start).toBe(begun.work.worktree.commit)
    const open = await opened(two.takeOver({ ...known(), iteration: 0, tree: begun.tree, pushed: start }))
    expect(open.tree).toBe(begun.tree)
    expect(readFileSync(marksFile(two.home, LOOP), 'utf8')).toBe('{"files":{}}')
    await two.work(1, { 'b.txt': 'b\n' })
    await pushed(two.push(1, 2, start))
    expect(remote.git('log', '--format=%s', BRANCH).split('\n')).toEqual(['task T1 (iteration 1)', 'Start'])
  })

  test('has the records of the means of proof', async () => {
    const state = await one.work(1, {})
    mkdirSync(join(one.home, 'proof'))
    writeFileSync(marksFile(one.home, LOOP), '{"files":{}}')
    const first = await pushed(one.push(1, 1))
    await opened(two.takeOver({ ...known(), iteration: 1, tree: state, pushed: first }))
    expect(readFileSync(marksFile(two.home, LOOP), 'utf8')).toBe('{"files":{}}')
  })

  test('continues from a turn that a limit ended, which no iteration counts', async () => {
    await one.work(1, { 'b.txt': 'b\n' })
    const first = await pushed(one.push(1, 1))
    const state = await one.work(2, { 'c.txt': 'half\n' })
    const second = await pushed(one.push(2, 1, first))
    await opened(two.takeOver({ ...known(), iteration: 1, tree: state, pushed: second }))
    expect(two.git('status', '--porcelain').split('\n')).toEqual(['?? b.txt', '?? c.txt'])
    expect(remote.refs()).toContain(`refs/ralph/${LOOP}/2`)
  })

  test('keeps the work if somebody removed the checkpoints from the remote', async () => {
    await one.work(1, { 'b.txt': 'b\n' })
    const first = await pushed(one.push(1, 1))
    for (const n of [0, 1]) remote.git('update-ref', '-d', `refs/ralph/${LOOP}/${n}`)
    await opened(two.takeOver({ ...known(), iteration: 1, pushed: first }))
    expect(two.git('show', 'HEAD:b.txt')).toBe('b')
  })
})

describe('a worker that comes back late', () => {
  test('cannot push anything, and nothing of it reaches the remote', async () => {
    const state = await one.work(1, { 'b.txt': 'b\n' })
    const first = await pushed(one.push(1, 1))
    await opened(two.takeOver({ ...known(), iteration: 1, tree: state, pushed: first }))
    const before = remote.git('for-each-ref')
    await one.work(2, { 'late.txt': 'late\n' })
    expect(await one.push(2, 1, first)).toEqual({ kind: 'fenced' })
    expect(await one.push(1, 1, first)).toEqual({ kind: 'fenced' })
    expect(await takeFence({ ...one.place, epoch: 1, pushed: first, kept: 1 })).toEqual({ kind: 'fenced' })
    expect(await one.finish(1)).toEqual({ kind: 'fenced' })
    expect(remote.git('for-each-ref')).toBe(before)
    const late = one.git('rev-parse', `refs/ralph/${LOOP}/2`)
    expect(() => remote.git('cat-file', '-e', late)).toThrow()
  })

  test('cannot push anything after the task has ended', async () => {
    await one.work(1, { 'b.txt': 'b\n' })
    const first = await pushed(one.push(1, 1))
    await opened(two.takeOver({ ...known(), iteration: 1, pushed: first }))
    await two.finish(2)
    expect(await one.push(1, 1, first)).toEqual({ kind: 'fenced' })
    expect(remote.refs()).toEqual(['refs/heads/main', `refs/heads/${BRANCH}`])
  })

  test('loses what it pushed and did not record', async () => {
    const state = await one.work(1, { 'b.txt': 'b\n' })
    const first = await pushed(one.push(1, 1))
    await one.work(2, { 'late.txt': 'late\n' })
    await pushed(one.push(2, 1, first))
    await opened(two.takeOver({ ...known(), iteration: 1, tree: state, pushed: first }))
    expect(remote.tip(BRANCH)).toBe(first)
    expect(remote.refs()).not.toContain(`refs/ralph/${LOOP}/2`)
    expect(two.git('status', '--porcelain')).toBe('?? b.txt')
  })

  test('loses its branch if none of it was recorded', async () => {
    await one.work(1, { 'b.txt': 'b\n' })
    await pushed(one.push(1, 1))
    await opened(two.takeOver({ ...known(), iteration: 0, tree: begun.tree }))
    expect(remote.refs()).toEqual(['refs/heads/main', `refs/ralph/${LOOP}/0`, `refs/ralph/${LOOP}/fence`])
  })

  test('is refused by the remote itself if it is overtaken in the middle of a push', async () => {
    const state = await one.work(1, { 'b.txt': 'b\n' })
    const first = await pushed(one.push(1, 1))
    await one.work(2, { 'late.txt': 'late\n' })
    const [came, go] = ['came', 'go'].map((name) => join(one.home, name))
    // By then git has compared what it expects; only the remote can still notice.
    const hook = `#!/bin/sh\ngrep -q /${LOOP}/2 || exit 0\ntouch ${came}\nwhile [ ! -e ${go} ]; do sleep 0.02; done\n`
    writeFileSync(join(remote.url, 'hooks/pre-receive'), hook, { mode: 0o755 })
    const late = one.push(2, 1, first)
    await eventually(() => existsSync(came ?? ''))
    await opened(two.takeOver({ ...known(), iteration: 1, tree: state, pushed: first }))
    const before = remote.git('for-each-ref')
    writeFileSync(go ?? '', '')
    expect(await late).toEqual({ kind: 'fenced' })
    expect(remote.git('for-each-ref')).toBe(before)
  })

  test('wins or loses as a whole if both push at once', async () => {
    const state = await one.work(1, { 'b.txt': 'b\n' })
    const first = await pushed(one.push(1, 1))
    await one.work(2, { 'c.txt': 'c\n' })
    const [late, taken] = await Promise.all([
      one.push(2, 1, first),
      two.takeOver({ ...known(), iteration: 1, tree: state, pushed: first }),
    ])
    expect(taken.kind).toBe('open')
    expect(['pushed', 'fenced']).toContain(late.kind)
    expect(remote.tip(BRANCH)).toBe(first)
    expect(remote.refs()).not.toContain(`refs/ralph/${LOOP}/2`)
  })
})

test('a branch that no worker has pushed is not taken', async () => {
  remote.git('branch', 'ralph/T2', 'main')
  const other = openMachine(remote, { loop: 'L2', branch: 'ralph/T2' })
  expect(await takeFence({ ...other.place, epoch: 1 })).toEqual({
    kind: 'refused',
    why: `ralph/T2 already exists in ${remote.url}, and no worker pushed it.`,
  })
})
