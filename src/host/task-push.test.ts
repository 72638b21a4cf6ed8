import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { BRANCH, LOOP, type Machine, openMachine } from './machine.test-support.ts'
import { makeRemote, type Remote } from './remote.test-support.ts'
import { takeFence } from './take-fence.ts'

let remote: Remote
let one: Machine

beforeEach(async () => {
  remote = await makeRemote({ 'a.txt': 'a\n', '.gitignore': 'built\n' })
  one = openMachine(remote)
  await one.begin()
})

const pushed = async (push: ReturnType<Machine['push']>): Promise<string> => {
  const done = await push
  if (done.kind !== 'pushed') throw new Error(JSON.stringify(done))
  return done.commit
}

describe('an iteration', () => {
  test('is a commit on the branch, and the worktree stays as the agent left it', async () => {
    const before = await one.work(1, { 'b.txt': 'b\n', built: 'no\n', 'ä "odd"\t.txt': 'odd\n' })
    const status = one.git('status', '--porcelain')
    const commit = await pushed(one.push(1, 1))
    expect(remote.tip(BRANCH)).toBe(commit)
    expect(remote.git('log', '--format=%s', BRANCH).split('\n')).toEqual(['task T1 (iteration 1)', 'Start'])
    expect(remote.git('log', '-1', '--format=%(trailers)', BRANCH).trim().split('\n')).toEqual([
      'Ralph-Task: T1',
      `Ralph-Loop: ${LOOP}`,
      'Ralph-Iteration: 1',
    ])
    expect(remote.git('ls-tree', '-z', '--name-only', BRANCH).split('\0').filter(Boolean)).toEqual([
      '.gitignore',
      'a.txt',
      'b.txt',
      'ä "odd"\t.txt',
    ])
    expect(one.git('status', '--porcelain')).toBe(status)
    expect(await (await one.tree()).look()).toBe(before)
  })

  test("builds on the previous one and on the agent's commits", async () => {
    await one.work(1, { 'b.txt': 'b\n' })
    const first = await pushed(one.push(1, 1))
    one.git('add', 'b.txt')
    one.git('commit', '--quiet', '--message', 'Mine')
    await one.work(2, { 'c.txt': 'c\n' })
    const second = await pushed(one.push(2, 1, first))
    expect(remote.git('show', '--no-patch', '--format=%P', second).split(' ')).toEqual([
      first,
      one.git('rev-parse', 'HEAD'),
    ])
    expect(remote.read(BRANCH, 'c.txt')).toBe('c')
  })

  test('whose work the agent has committed itself is that commit', async () => {
    one.git('commit', '--quiet', '--allow-empty', '--message', 'Mine')
    await one.work(1, {})
    const first = await pushed(one.push(1, 1))
    expect(first).toBe(one.git('rev-parse', 'HEAD'))
    one.git('commit', '--quiet', '--allow-empty', '--message', 'Mine, too')
    await one.work(2, {})
    expect(await pushed(one.push(2, 1, first))).toBe(one.git('rev-parse', 'HEAD'))
    expect(remote.git('log', '--format=%s', BRANCH).split('\n')).toEqual(['Mine, too', 'Mine', 'Start'])
  })

  test('that changed nothing is not a commit, but a checkpoint', async () => {
    await one.work(1, { 'b.txt': 'b\n' })
    const first = await pushed(one.push(1, 1))
    await one.work(2, {})
    expect(await pushed(one.push(2, 1, first))).toBe(first)
    expect(remote.refs()).toContain(`refs/ralph/${LOOP}/2`)
  })

  test('that was already pushed counts as pushed, with the same commit', async () => {
    await one.work(1, { 'b.txt': 'b\n' })
    const first = await pushed(one.push(1, 1))
    expect(await pushed(one.push(1, 1))).toBe(first)
    await one.work(2, { 'b.txt': 'c\n' })
    const second = await pushed(one.push(2, 1, first))
    expect(await pushed(one.push(2, 1, first))).toBe(second)
  })

  test('without a checkpoint has nothing to push', async () => {
    expect(await one.push(1, 1)).toEqual({ kind: 'kept-nothing' })
  })

  test('is pushed although an agent moved its checkpoint, its branch and its configuration', async () => {
    await one.work(1, { 'b.txt': 'b\n' })
    one.git('update-ref', `refs/ralph/${LOOP}/1`, 'HEAD')
    one.git('config', `url.ext::false.insteadOf`, remote.url)
    const hook = join(one.git('rev-parse', '--path-format=absolute', '--git-common-dir'), 'hooks')
    one.git('config', 'core.hooksPath', hook)
    await pushed(one.push(1, 1))
    expect(remote.read(BRANCH, 'b.txt')).toBe('b')
  })

  test('of an agent that went back in its history keeps both histories', async () => {
    one.git('commit', '--quiet', '--allow-empty', '--message', 'Dropped')
    await one.work(1, { 'b.txt': 'b\n' })
    const first = await pushed(one.push(1, 1))
    one.git('reset', '--quiet', '--soft', 'HEAD~1')
    one.git('commit', '--quiet', '--allow-empty', '--message', 'Instead')
    await one.work(2, {})
    const second = await pushed(one.push(2, 1, first))
    expect(remote.git('log', '--format=%s', second).split('\n').sort()).toEqual(
      ['Dropped', 'Instead', 'Start', 'task T1 (iteration 1)', 'task T1 (iteration 2)'].sort(),
    )
  })

  test('has the line endings of the repository even if the worker has its own', async () => {
    const settings = join(one.home, 'gitconfig')
    writeFileSync(settings, '[core]\n\tautocrlf = true\n[fetch]\n\tprune = true\n[push]\n\tfollowTags = true\n')
    vi.stubEnv('GIT_CONFIG_GLOBAL', settings)
    const other = openMachine(remote, { loop: `${LOOP}-0`, branch: `${BRANCH}-0` })
    await other.begin()
    const dir = join(other.home, 'worktrees', `${LOOP}-0`)
    expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('a\r\n')
    await other.work(1, { 'b.txt': 'b\r\n' })
    await pushed(other.push(1, 1))
    vi.unstubAllEnvs()
    expect(remote.git('diff', '--name-status', 'main', `${BRANCH}-0`)).toBe('A\tb.txt')
    expect(remote.git('cat-file', 'blob', `${BRANCH}-0:b.txt`)).toBe('b')
  })

  test('is committed under the name of the worker, or as ralph', async () => {
    await one.work(1, { 'b.txt': 'b\n' })
    vi.stubEnv('GIT_CONFIG_GLOBAL', '/dev/null')
    vi.stubEnv('GIT_CONFIG_SYSTEM', '/dev/null')
    one.git('config', 'user.name', 'Ada')
    one.git('config', 'user.email', 'ada@localhost')
    const commit = await pushed(one.push(1, 1))
    expect(remote.git('show', '--no-patch', '--format=%an %cn', commit)).toBe('ralph ralph')
    const settings = join(one.home, 'gitconfig')
    writeFileSync(settings, '[user]\n\tname = Worker\n\temail = worker@localhost\n')
    vi.stubEnv('GIT_CONFIG_GLOBAL', settings)
    await one.work(2, { 'b.txt': 'c\n' })
    const second = await pushed(one.push(2, 1, commit))
    vi.unstubAllEnvs()
    expect(remote.git('show', '--no-patch', '--format=%an %cn', second)).toBe('Worker Worker')
  })
})

describe('what is pushed', () => {
  test('never goes to a branch that is not ours', async () => {
    const names = [
      'main',
      'ralph',
      'ralph/',
      'ralph/../main',
      'ralph/a b',
      'ralph/-x',
      'refs/heads/ralph/x',
      'ralph/a.lock',
    ]
    for (const branch of names) {
      const foreign = openMachine(remote, { branch, home: one.home })
      await expect(foreign.push(1, 1)).rejects.toThrow('is not a task branch')
      await expect(foreign.finish(1)).rejects.toThrow('is not a task branch')
      await expect(takeFence({ ...foreign.place, epoch: 9 })).rejects.toThrow('is not a task branch')
    }
  })

  test('leaves alone what somebody else pushed to the branch', async () => {
    await one.work(1, { 'b.txt': 'b\n' })
    const first = await pushed(one.push(1, 1))
    const theirs = remote.commit({ 'theirs.txt': 'x\n' }, BRANCH)
    await one.work(2, { 'b.txt': 'c\n' })
    expect(await one.push(2, 1, first)).toEqual({
      kind: 'refused',
      why: `Somebody else has pushed to ${BRANCH} in ${remote.url}.`,
    })
    expect(remote.tip(BRANCH)).toBe(theirs)
  })

  test('arrives when the remote is back', async () => {
    await one.work(1, { 'b.txt': 'b\n' })
    renameSync(remote.url, `${remote.url}-away`)
    expect(await one.push(1, 1)).toMatchObject({ kind: 'unreachable' })
    renameSync(`${remote.url}-away`, remote.url)
    expect(await one.push(1, 1)).toMatchObject({ kind: 'pushed' })
  })

  test('is refused in the words of the remote', async () => {
    writeFileSync(join(remote.url, 'hooks/pre-receive'), '#!/bin/sh\necho Not on Fridays >&2\nexit 1\n', {
      mode: 0o755,
    })
    await one.work(1, { 'b.txt': 'b\n' })
    expect(await one.push(1, 1)).toEqual({ kind: 'refused', why: expect.stringContaining('pre-receive hook declined') })
  })

  test('needs a remote that changes several refs at once', async () => {
    remote.git('config', 'receive.advertiseAtomic', 'false')
    await one.work(1, { 'b.txt': 'b\n' })
    expect(await one.push(1, 1)).toEqual({ kind: 'refused', why: expect.stringContaining('atomic push') })
  })

  test('is refused if a branch is in the way', async () => {
    const other = await makeRemote()
    other.git('branch', 'ralph', 'main')
    const machine = openMachine(other)
    await machine.begin()
    await machine.work(1, { 'b.txt': 'b\n' })
    expect(await machine.push(1, 1)).toEqual({
      kind: 'refused',
      why: expect.stringContaining("'refs/heads/ralph' exists"),
    })
  })
})

describe('at the end', () => {
  test('only the branch is left on the remote, and nothing here', async () => {
    await one.work(1, { 'b.txt': 'b\n' })
    const commit = await pushed(one.push(1, 1))
    expect(await one.finish(1)).toEqual({ kind: 'finished' })
    expect(await one.finish(1)).toEqual({ kind: 'finished' })
    expect(remote.refs()).toEqual(['refs/heads/main', `refs/heads/${BRANCH}`])
    expect(remote.tip(BRANCH)).toBe(commit)
  })

  test('nobody else can clean up', async () => {
    await one.work(1, { 'b.txt': 'b\n' })
    await pushed(one.push(1, 1))
    await takeFence({ ...one.place, epoch: 2, pushed: remote.tip(BRANCH), kept: 1 })
    expect(await one.finish(1)).toEqual({ kind: 'fenced' })
    expect(remote.refs()).toContain(`refs/ralph/${LOOP}/fence`)
  })
})
