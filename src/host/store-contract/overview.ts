/** All loops at a glance, and which of them need a person. */
import { describe, expect, test } from 'vitest'
import type { Owner, Work } from '../../engine/loop.ts'
import {
  at,
  cancel,
  claims,
  crashes,
  type Happening,
  MINUTE,
  pause,
  START,
  uses,
  wantsPerson,
  works,
} from '../../engine/stories.test-support.ts'
import { taskOf } from './board-records.ts'
import { loopOf, type Scene, WORK } from './scene.ts'
import { beginIn, taskLoop } from './task-records.ts'

const halts: Happening[] = Array(5).fill(at(5, crashes()))
const LATER = START + 5 * MINUTE

export function overview(scene: Scene): void {
  const whyOf = async (since = 0) => (await scene.store.needing(since)).map(({ loop, why }) => [loop, why])
  const work = (more: Partial<Work>) => ({ work: { ...WORK, ...more } })
  const owned = (owner: object, more: Partial<Work> = {}) => work({ owner: owner as Owner, ...more })

  describe(`the overview of ${scene.name}`, () => {
    test('of nothing is empty', async () => {
      expect(await scene.store.overview(0)).toEqual({ byStatus: {}, tasks: {}, folders: [], costUsd: 0 })
      expect(await scene.store.needing(0)).toEqual([])
    })

    test('counts loops by their status, and tasks that are not archived', async () => {
      await scene.story('a1', {}, works)
      await scene.story('a2', {}, claims('clear'))
      await scene.story('a3', {}, claims('clear'))
      await scene.story('a4', {}, pause)
      for (const [id, status] of Object.entries({ t1: 'todo', t2: 'todo', t3: 'done' } as const))
        await scene.store.board.create(taskOf(id, { status }))
      await scene.store.board.create(taskOf('t4', { archived: true }))
      const { byStatus, tasks } = await scene.store.overview(0)
      expect(byStatus).toEqual({ running: 1, completed: 2, paused: 1 })
      expect(tasks).toEqual({ todo: 2, done: 1 })
    })

    test('has at most twenty folders, those with the newest loops first', async () => {
      for (let n = 0; n < 25; n++) await scene.store.create(loopOf(`a${n}`, work({ dir: `/code/${n}` }), n))
      await scene.store.create(loopOf('again', work({ dir: '/code/3' }), 90))
      const { folders } = await scene.store.overview(0)
      expect(folders.slice(0, 3)).toEqual([
        { dir: '/code/3', loops: 2 },
        { dir: '/code/24', loops: 1 },
        { dir: '/code/23', loops: 1 },
      ])
      expect(folders).toHaveLength(20)
    })

    test('adds up what iterations have cost since then', async () => {
      const spends = (minute: number, costUsd: number) => at(minute, uses({ costUsd }))
      await scene.story('a1', {}, spends(1, 1), spends(2, 0.25), at(3, works))
      await scene.story('a2', {}, spends(4, 0.5))
      expect((await scene.store.overview(START + 2 * MINUTE)).costUsd).toBe(0.75)
      expect((await scene.store.overview(START + 9 * MINUTE)).costUsd).toBe(0)
    })
  })

  describe(`those who need a person in ${scene.name}`, () => {
    test('wait for an answer, have stopped short, or may have lost their driver, newest first', async () => {
      await scene.story('asks', {}, at(3, wantsPerson()))
      await scene.story('stuck', {}, ...halts)
      await scene.story('running', {}, at(4, works))
      await scene.story('done', {}, claims('clear'))
      await scene.story('cancelled', {}, works, cancel)
      await scene.story('paused', {}, pause)
      expect(await scene.store.needing(0)).toEqual([
        { loop: 'stuck', why: 'stuck', status: 'halted', at: LATER, n: 5, seen: 0 },
        { loop: 'running', why: 'under-way', status: 'running', at: START + 4 * MINUTE, n: 1, seen: 0 },
        { loop: 'asks', why: 'asks', status: 'needs-input', at: START + 3 * MINUTE, n: 1, seen: 0 },
      ])
      expect(await whyOf(LATER)).toContainEqual(['stuck', 'stuck'])
      expect(await whyOf(LATER + 1)).not.toContainEqual(['stuck', 'stuck'])
    })

    test('are none once another loop continues their work', async () => {
      await scene.story('a1', {}, ...halts)
      await scene.store.create(loopOf('a2', work({ parent: { loop: 'a1', iteration: 0 } })))
      expect(await whyOf()).toEqual([['a2', 'under-way']])
    })

    test('wait for a review as long as their task does', async () => {
      const task = taskOf('t1', { status: 'in-review', loop_id: 'a1' })
      await scene.store.board.create(task)
      await scene.store.board.create(taskOf('t2', { status: 'in-review' }))
      await scene.story('a1', owned({ kind: 'board', task: 't1' }), claims('clear'))
      await scene.story('a2', {}, claims('clear'))
      expect(await whyOf()).toEqual([['a1', 'review']])
      await scene.store.board.save({ ...task, status: 'done' })
      expect(await whyOf()).toEqual([])
    })

    test('are those of the last loop of a board task, unless it is settled', async () => {
      const task = taskOf('t1', { status: 'in-progress', loop_id: 'a2' })
      await scene.store.board.create(task)
      for (const id of ['a1', 'a2']) await scene.story(id, owned({ kind: 'board', task: 't1' }), ...halts)
      await scene.story('a3', owned({ kind: 'board' }), ...halts)
      await scene.story('a4', owned({ kind: 'board', task: 'removed' }), ...halts)
      expect(await whyOf()).toEqual(['a2', 'a3', 'a4'].map((id) => [id, 'stuck']))
      await scene.store.board.save({ ...task, status: 'cancelled' })
      expect(await whyOf()).toEqual(['a3', 'a4'].map((id) => [id, 'stuck']))
    })

    test('are those of the last loop of a vault task', async () => {
      for (const id of ['l1', 'l2']) {
        await beginIn(scene.store.tasks, taskLoop(id), {})
        await scene.saves(id, ...halts)
      }
      expect(await whyOf()).toEqual([['l2', 'stuck']])
    })

    test('are those of the last loop of a project task', async () => {
      const loops = { a1: ['p', 'T1'], a2: ['p', 'T2'], a3: ['p', 'T1'], a4: ['q', 'T2'] } as const
      for (const [minute, [id, [name, task]]] of Object.entries(loops).entries()) {
        await scene.store.create(loopOf(id, owned({ kind: 'project', name, task }), minute))
        await scene.saves(id, ...halts)
      }
      expect(await whyOf()).toEqual(['a2', 'a3', 'a4'].map((id) => [id, 'stuck']))
    })
  })
}
