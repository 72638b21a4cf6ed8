/** A worker that is killed at any git it starts: the next one finds the task as it was recorded. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { BRANCH, LOOP, type Machine, openMachine } from './machine.test-support.ts'
import { source, startScript, temporaryFolder } from './place.test-support.ts'
import { makeRemote, type Remote } from './remote.test-support.ts'
import type { OpenTask } from './task-tree.ts'

/** A git that kills its parent at the nth start, and continues alone. */
function killerGit(n: number): { path: string; calls(): number } {
  const folder = temporaryFolder()
  const count = join(folder, 'count')
  writeFileSync(count, '')
  const lines = [
    '#!/bin/sh',
    `echo >> ${count}`,
    `if [ "$(wc -l < ${count})" -eq ${n} ]; then kill -9 $PPID; fi`,
    'PATH=${PATH#*:} exec git "$@"',
  ]
  writeFileSync(join(folder, 'git'), `${lines.join('\n')}\n`, { mode: 0o755 })
  return {
    path: `${folder}${delimiter}${process.env.PATH}`,
    calls: () => readFileSync(count, 'utf8').length,
  }
}

type Scene = { remote: Remote; one: Machine; two: Machine; begun: OpenTask; first: string; state: string }

async function setScene(): Promise<Scene> {
  const remote = await makeRemote()
  const [one, two] = [openMachine(remote), openMachine(remote)]
  const begun = await one.begin()
  const state = await one.work(1, { 'b.txt': 'b\n' })
  const done = await one.push(1, 1)
  if (done.kind !== 'pushed') throw new Error(JSON.stringify(done))
  return { remote, one, two, begun, first: done.commit, state }
}

/** The second machine takes over the task, works, pushes and closes, until it is killed. */
async function continueUntilKilled({ two, begun, first, state }: Scene, n: number): Promise<number> {
  const git = killerGit(n)
  const known = { epoch: 2, iteration: 1, pushed: first, tree: state, worktree: begun.work.worktree }
  const code = `
    import { writeFileSync } from 'node:fs'
    import { takeOverTask } from ${source('host/take-over.ts')}
    import { pushIteration } from ${source('host/task-push.ts')}
    import { closeTaskTree } from ${source('host/task-tree.ts')}
    import { openTree } from ${source('host/tree.ts')}
    const place = ${JSON.stringify(two.place)}
    const open = await takeOverTask({ ...place, ...${JSON.stringify(known)} })
    writeFileSync(open.work.dir + '/c.txt', 'lost')
    const tree = await openTree({ dir: open.work.dir, home: place.home, loop: place.loop })
    await tree.look()
    await tree.checkpoints.keep(2)
    await pushIteration({ ...place, task: 'T1', iteration: 2, epoch: 2, pushed: ${JSON.stringify(first)} })
    await closeTaskTree(place)`
  const { signal, err } = await startScript(code, { PATH: git.path }).ended
  if (signal !== 'SIGKILL' && err !== '') throw new Error(err)
  return git.calls()
}

describe('a worker that is killed', () => {
  let all = 0
  beforeAll(async () => {
    all = await continueUntilKilled(await setScene(), 0)
  })

  const { RALPH_CRASH_POINTS, RALPH_TEST_RUNS = 4 } = process.env
  const POINTS = Number(RALPH_CRASH_POINTS ?? RALPH_TEST_RUNS)

  test.each(Array.from({ length: POINTS }, (_, n) => n))('at part %i of its way loses nothing', async (part) => {
    const scene = await setScene()
    const { remote, two, begun, first, state } = scene
    await continueUntilKilled(scene, 1 + Math.floor((part * all) / POINTS))
    const open = await two.takeOver({
      epoch: 3,
      iteration: 1,
      pushed: first,
      tree: state,
      worktree: begun.work.worktree,
    })
    expect(open).toMatchObject({ kind: 'open', tree: state })
    expect(two.git('status', '--porcelain')).toBe('?? b.txt')
    expect(remote.tip(BRANCH)).toBe(first)
    await two.work(2, { 'c.txt': 'c\n' })
    expect(await two.push(2, 3, first)).toMatchObject({ kind: 'pushed' })
    expect(await two.finish(3)).toEqual({ kind: 'finished' })
    await two.close()
    expect(remote.refs()).toEqual(['refs/heads/main', `refs/heads/${BRANCH}`])
    expect(remote.read(BRANCH, 'c.txt')).toBe('c')
    const left = readdirSync(two.home, { recursive: true, encoding: 'utf8' }).filter((path) => path.includes(LOOP))
    expect(left).toEqual([])
  })
})
