/** Tasks of the board are stored, changed by one at a time, and every change is reported. */
import { describe, expect, test } from 'vitest'
import { startLoop } from '../../engine/loop.ts'
import { START } from '../../engine/stories.test-support.ts'
import { BOARD_DEFAULTS, type BoardTask } from '../../formats/board-task.ts'
import { loopOf, PROMPT_OF_ALL_KINDS, type Scene } from './scene.ts'

export function taskOf(id: string, fields: Partial<BoardTask> = {}): BoardTask {
  const at = '2026-01-05T09:00:00.000Z'
  return {
    ...BOARD_DEFAULTS,
    title: `Task ${id}`,
    id,
    loop_id: null,
    created_by: 'person',
    created_at: at,
    updated_at: at,
    version: 1,
    ...fields,
  }
}

export function boardRecords(scene: Scene): void {
  describe(`the board in ${scene.name}`, () => {
    test('stores tasks as they were created', async () => {
      const task = taskOf('a', { description: PROMPT_OF_ALL_KINDS, labels: ['x'], limits: { minutes: 5 } })
      await scene.store.board.create(task)
      expect(await scene.store.board.load('a')).toEqual(task)
      expect(await scene.store.board.load('b')).toBeUndefined()
    })

    test('stores a change as the next version, once', async () => {
      const { board } = scene.store
      const task = taskOf('a')
      await board.create(task)
      const saved = await board.save({ ...task, title: 'Other' })
      expect(saved).toMatchObject({ title: 'Other', version: 2 })
      expect(await board.save({ ...task, title: 'Too late' })).toBeUndefined()
      expect(await board.load('a')).toEqual(saved)
    })

    test('stores no change that conflicts with other tasks', async () => {
      const { board } = scene.store
      for (const id of ['a', 'b']) await board.create(taskOf(id))
      const seen: string[] = []
      const refuse = (all: readonly BoardTask[]) => {
        seen.push(...all.map(({ id }) => id))
        throw new Error('Not now.')
      }
      await expect(board.save(taskOf('a', { title: 'Other' }), refuse)).rejects.toThrow('Not now.')
      await expect(board.remove('a', 1, refuse)).rejects.toThrow('Not now.')
      expect(seen.sort()).toEqual(['a', 'a', 'b', 'b'])
      expect(await board.load('a')).toEqual(taskOf('a'))
    })

    test('changes only the given fields of a group', async () => {
      const { board } = scene.store
      expect(await board.saveGroup({ project_id: 'g' })).toEqual({ project_id: 'g', name: 'g', repo: null })
      await Promise.all([
        board.saveGroup({ project_id: 'g', name: 'Shop' }),
        board.saveGroup({ project_id: 'g', repo: '/shop' }),
      ])
      expect(await board.groups()).toEqual([{ project_id: 'g', name: 'Shop', repo: '/shop' }])
    })

    test('lists the newest first, by status, group, archive, text and loop, in pages', async () => {
      const { board } = scene.store
      for (const [n, id] of ['a', 'b', 'c', 'd'].entries())
        await board.create(taskOf(id, { created_at: new Date(Date.UTC(2026, 0, 1 + n)).toISOString() }))
      await board.create(taskOf('e', { status: 'done', project_id: 'p', archived: true, description: 'Blue BOX' }))
      const ids = async (filter: Parameters<typeof board.list>[0]) =>
        (await board.list(filter)).tasks.map(({ id }) => id)
      expect(await ids({ archived: false })).toEqual(['d', 'c', 'b', 'a'])
      expect(await ids({ status: ['done'] })).toEqual(['e'])
      expect(await ids({ project_id: 'p' })).toEqual(['e'])
      expect(await ids({ text: 'blue box' })).toEqual(['e'])
      expect(await ids({ text: '%' })).toEqual([])
      expect(await ids({ loop: 'none' })).toEqual([])
      const first = await board.list({ archived: false, limit: 3 })
      expect(first.next).toBeDefined()
      expect(await ids({ archived: false, limit: 3, after: first.next ?? '' })).toEqual(['a'])
    })

    test('creates the loop of a task together with the task, or neither', async () => {
      const { board } = scene.store
      const task = taskOf('a')
      await board.create(task)
      const begun = await board.begin({ ...task, loop_id: 'l1', status: 'in-progress' }, loopOf('l1'))
      expect(begun).toMatchObject({ loop_id: 'l1', version: 2 })
      expect((await scene.store.load('l1')).id).toBe('l1')
      expect(await board.begin({ ...task, loop_id: 'l2' }, loopOf('l2'))).toBeUndefined()
      await expect(scene.store.load('l2')).rejects.toMatchObject({ code: 'loop-unknown' })
    })

    test('knows which queued loops may start, in order', async () => {
      const { board } = scene.store
      const begin = async (id: string, fields: Partial<BoardTask>) => {
        const task = taskOf(id, fields)
        await board.create(task)
        const { spec } = loopOf(`l-${id}`)
        const owned = { ...spec, work: { ...spec.work, dir: `/${id}`, owner: { kind: 'board' as const, task: id } } }
        const loop = startLoop(`l-${id}`, owned, { at: START, queued: true })
        await board.begin({ ...task, loop_id: loop.id, status: 'in-progress' }, loop)
      }
      await begin('low', { priority: -1 })
      await begin('first', {})
      await begin('blocked', { priority: 9, depends_on: ['low'] })
      await begin('free', { priority: 5, depends_on: ['gone'] })
      expect(await board.queue()).toEqual([
        { loop: 'l-free', place: '/free' },
        { loop: 'l-first', place: '/first' },
        { loop: 'l-low', place: '/low' },
      ])
      const low = await board.load('low')
      if (low) await board.save({ ...low, status: 'done' })
      expect((await board.queue()).map(({ loop }) => loop)).toEqual(['l-blocked', 'l-free', 'l-first', 'l-low'])
    })

    test('removes a task only at the version that was read', async () => {
      const { board } = scene.store
      await board.create(taskOf('a'))
      expect(await board.remove('a', 2)).toBe(false)
      expect(await board.remove('a', 1)).toBe(true)
      expect(await board.remove('a', 1)).toBe(false)
      expect(await board.load('a')).toBeUndefined()
    })

    test('stores groups', async () => {
      const { board } = scene.store
      await board.saveGroup({ project_id: 'p', name: 'Shop', repo: null })
      await board.saveGroup({ project_id: 'p', name: 'Shop', repo: '/shop' })
      expect(await board.groups()).toEqual([{ project_id: 'p', name: 'Shop', repo: '/shop' }])
    })

    test('reports every change in order, and forgets them on request', async () => {
      const { board } = scene.store
      const task = taskOf('a')
      await board.create(task)
      const [made] = await board.changes(0)
      await board.save({ ...task, title: 'Other' })
      await board.saveGroup({ project_id: 'p', name: 'p', repo: null })
      await board.remove('a', 2)
      const later = await board.changes(made?.seq ?? 0)
      expect(later.map(({ change }) => change.kind)).toEqual(['task', 'group', 'task-removed'])
      await board.prune(Number.MAX_SAFE_INTEGER)
      expect(await board.changes(0)).toEqual([])
    })
  })
}
