import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Verdict } from '../engine/loop.ts'
import { BRANCH, LOOP, openMachine } from './machine.test-support.ts'
import { type MergingIntoBase, mergeIntoBase } from './merge-into-base.ts'
import { temporaryFolder } from './place.test-support.ts'
import { makeRemote, type Remote } from './remote.test-support.ts'
import { openRepoCache } from './repo-cache.ts'

let remote: Remote
let home: string

beforeEach(async () => {
  remote = await makeRemote({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
  home = temporaryFolder()
  remote.git('branch', BRANCH, 'main')
})

const passes: MergingIntoBase['check'] = async () => []
const verdict = (result: Verdict['result']): Verdict => ({ check: 'make test', result, tail: '' })

const merge = (how: Partial<MergingIntoBase> = {}) =>
  mergeIntoBase({
    ...{ home, repo: remote.url, base: 'main', branch: BRANCH, loop: LOOP },
    ...{ message: 'Merge T1', check: passes },
    ...how,
  })

const nothingLeft = async () => {
  const { top } = await openRepoCache(home).open(remote.url)
  const trees = join(top, '.git/worktrees')
  expect(existsSync(trees) ? readdirSync(trees) : []).toEqual([])
  expect(readdirSync(join(home, 'merges'))).toEqual([])
}

describe('the branch of a task', () => {
  test('becomes the base if nothing else has arrived', async () => {
    const work = remote.commit({ 'a.txt': 'ours\n' }, BRANCH)
    const seen: unknown[] = []
    const check: MergingIntoBase['check'] = async ({ dir, ...rest }) => {
      seen.push(rest, readFileSync(join(dir, 'a.txt'), 'utf8'))
      return [verdict('pass')]
    }
    expect(await merge({ check })).toEqual({ kind: 'merged', commit: work })
    expect(seen).toEqual([{ commit: work, same: true }, 'ours\n'])
    expect(remote.tip('main')).toBe(work)
    await nothingLeft()
  })

  test('is merged with what has arrived, and checked together with it', async () => {
    const work = remote.commit({ 'a.txt': 'ours\n' }, BRANCH)
    const theirs = remote.commit({ 'b.txt': 'theirs\n' })
    const check: MergingIntoBase['check'] = async ({ dir, same }) => {
      writeFileSync(join(dir, 'built'), '')
      const both = ['a.txt', 'b.txt'].map((name) => readFileSync(join(dir, name), 'utf8')).join('')
      return [verdict(both === 'ours\ntheirs\n' && !same ? 'pass' : 'fail')]
    }
    const author = { name: 'Ada', email: 'ada@localhost' }
    const merged = await merge({ check, author })
    expect(merged).toEqual({ kind: 'merged', commit: remote.tip('main') })
    expect(remote.git('show', '--no-patch', '--format=%P %an %s', 'main')).toBe(`${theirs} ${work} Ada Merge T1`)
    expect(remote.git('ls-tree', '--name-only', 'main').split('\n')).toEqual(['a.txt', 'b.txt'])
    await nothingLeft()
  })

  test('that is already part of the base counts as merged', async () => {
    expect(await merge()).toEqual({ kind: 'merged', commit: remote.tip('main') })
    remote.commit({ 'a.txt': 'ours\n' }, BRANCH)
    await merge()
    remote.commit({ 'b.txt': 'theirs\n' })
    expect(await merge()).toEqual({ kind: 'merged', commit: remote.tip('main') })
  })

  test('that changed the same lines is in conflict', async () => {
    remote.commit({ 'a.txt': 'ours\n', 'ä\n.txt': 'ours\n' }, BRANCH)
    const theirs = remote.commit({ 'a.txt': 'theirs\n', 'ä\n.txt': 'theirs\n' })
    expect(await merge()).toEqual({ kind: 'conflict', paths: ['a.txt', 'ä\n.txt'] })
    expect(remote.tip('main')).toBe(theirs)
    await nothingLeft()
  })

  test.each<Verdict['result']>(['fail', 'broken', 'timeout'])('whose checks say %s stays out', async (result) => {
    const before = remote.tip('main')
    remote.commit({ 'a.txt': 'ours\n' }, BRANCH)
    const check = async () => [verdict('pass'), verdict(result)]
    expect(await merge({ check })).toEqual({ kind: 'red', failed: [verdict(result)] })
    expect(remote.tip('main')).toBe(before)
    await nothingLeft()
  })

  test('with an unrelated history is refused', async () => {
    const other = await makeRemote({ 'c.txt': 'c\n' })
    remote.git('fetch', '--quiet', other.url, `+main:${BRANCH}`)
    expect(await merge()).toEqual({ kind: 'refused', why: expect.stringContaining('unrelated histories') })
    await nothingLeft()
  })
})

describe('a base', () => {
  test('that moves while the checks run is merged again', async () => {
    remote.commit({ 'a.txt': 'ours\n' }, BRANCH)
    let runs = 0
    const check: MergingIntoBase['check'] = async () => {
      if (runs++ < 2) remote.commit({ 'b.txt': `theirs ${runs}\n` })
      return []
    }
    expect(await merge({ check })).toMatchObject({ kind: 'merged' })
    expect(runs).toBe(3)
    expect(remote.read('main', 'b.txt')).toBe('theirs 2')
    expect(remote.read('main', 'a.txt')).toBe('ours')
    await nothingLeft()
  })

  test('that keeps moving is worth another try later', async () => {
    remote.commit({ 'a.txt': 'ours\n' }, BRANCH)
    let runs = 0
    const check: MergingIntoBase['check'] = async () => {
      remote.commit({ 'b.txt': `theirs ${runs++}\n` })
      return []
    }
    expect(await merge({ check })).toEqual({ kind: 'unreachable', why: expect.stringContaining('moved 5 times') })
    expect(remote.read('main', 'a.txt')).toBe('a')
  })

  test('that somebody reset is not moved forward again', async () => {
    const start = remote.tip('main')
    remote.commit({ 'dropped.txt': 'x\n' })
    remote.commit({ 'a.txt': 'ours\n' }, BRANCH)
    let runs = 0
    const check: MergingIntoBase['check'] = async () => {
      if (runs++ === 0) remote.git('update-ref', 'refs/heads/main', start)
      return []
    }
    expect(await merge({ check })).toMatchObject({ kind: 'merged' })
    expect(remote.git('ls-tree', '--name-only', 'main').split('\n')).toEqual(['a.txt', 'b.txt'])
  })

  test.each<[string, Partial<MergingIntoBase>]>([
    ['that does not exist', { base: 'nope' }],
    ['of a branch that does not exist', { branch: 'ralph/nope' }],
  ])('%s refuses', async (_, how) => {
    expect(await merge(how)).toEqual({ kind: 'refused', why: expect.stringContaining("couldn't find remote ref") })
  })

  test('that is protected refuses in its own words', async () => {
    remote.commit({ 'a.txt': 'ours\n' }, BRANCH)
    writeFileSync(join(remote.url, 'hooks/update'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    expect(await merge()).toEqual({ kind: 'refused', why: expect.stringContaining('hook declined') })
    await nothingLeft()
  })

  test('that is unreachable is waited for', async () => {
    remote.commit({ 'a.txt': 'ours\n' }, BRANCH)
    const away = `${remote.url}-away`
    const check: MergingIntoBase['check'] = async () => {
      renameSync(remote.url, away)
      return []
    }
    expect(await merge({ check })).toMatchObject({ kind: 'unreachable' })
    expect(await merge()).toMatchObject({ kind: 'unreachable' })
    renameSync(away, remote.url)
    expect(await merge()).toMatchObject({ kind: 'merged' })
  })
})

test('only a branch of ours is merged', async () => {
  await expect(merge({ branch: 'main' })).rejects.toThrow('is not a task branch')
})

test('a place that a killed ralph left is reused', async () => {
  const work = remote.commit({ 'a.txt': 'ours\n' }, BRANCH)
  const machine = openMachine(remote, { home })
  const { top } = await openRepoCache(home).open(remote.url)
  await openRepoCache(home).fetch(remote.url, ['refs/heads/main'])
  execFileSync(
    'git',
    ['worktree', 'add', '--quiet', '--lock', '--detach', join(machine.home, 'merges', LOOP), 'origin/main'],
    {
      cwd: top,
    },
  )
  writeFileSync(join(top, '.git/worktrees', LOOP, 'index.lock'), '')
  expect(await merge()).toEqual({ kind: 'merged', commit: work })
  await nothingLeft()
})
