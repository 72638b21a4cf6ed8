/** The tasks of vaults: which loop each has, and what else is known about it. */
import { describe, expect, test } from 'vitest'
import { type Loop, type Order, type Owner, startLoop } from '../../engine/loop.ts'
import { START, specOf } from '../../engine/stories.test-support.ts'
import { eventually } from '../place.test-support.ts'
import type { TaskRecord, TaskRecords } from '../store.ts'
import type { Scene } from './scene.ts'

type Task = Owner & { path: string; id: string }

const VAULT: Task = { kind: 'vault', path: '/vault', id: 'a' }

const TASK = { vault: '/vault', id: 'a', loop: 'l1' }

export function taskLoop(id: string, task: Partial<Task> = {}, start: number = START): Loop {
  const owner: Task = { ...VAULT, ...task }
  return startLoop(id, specOf({ work: { ...specOf().work, dir: owner.path, owner } }), { at: start })
}

/** Starts a task of the vault that its loop names. */
export function beginIn(tasks: TaskRecords, loop: Loop, record: TaskRecord): Promise<string | undefined> {
  const { path, id } = loop.spec.work.owner as Task // which `taskLoop` made
  return tasks.begin({ vault: path, id }, loop, record)
}

export function taskRecords(scene: Scene): void {
  async function end(id: string, order: Order = { kind: 'cancel' }, moment: number = START): Promise<void> {
    await scene.saves(id, { kind: 'told', at: moment, by: 'Ada', order })
  }

  describe(`the tasks of vaults in ${scene.name}`, () => {
    test('are started with their loop, and found again', async () => {
      expect(await beginIn(scene.store.tasks, taskLoop('l1'), { inode: '1:2' })).toBeUndefined()
      expect(await scene.store.load('l1')).toEqual(taskLoop('l1'))
      const row = { vault: '/vault', id: 'a', loop: 'l1', record: { inode: '1:2' }, movedAt: START, events: 0 }
      expect(await scene.store.tasks.load('/vault', 'a')).toEqual(row)
      expect(await scene.store.tasks.list('/vault')).toEqual([row])
    })

    test('can take a loop that has already moved, as it is', async () => {
      await scene.store.create(taskLoop('l1'))
      await end('l1', { kind: 'say', words: 'x' }, START + 5)
      const loop = await scene.store.load('l1')
      expect(await beginIn(scene.store.tasks, taskLoop('l1'), {})).toBeUndefined()
      expect(await scene.store.load('l1')).toEqual(loop)
      expect(await scene.store.tasks.load('/vault', 'a')).toMatchObject({ loop: 'l1', movedAt: START + 5, events: 1 })
    })

    test('are known only in their own vault, by their full name', async () => {
      await beginIn(scene.store.tasks, taskLoop('l1'), {})
      for (const [vault, id] of [
        ['/other', 'a'],
        ['/vault', 'b'],
        ['/vault', ''],
        ['/vault/', 'a'],
      ] as const)
        expect(await scene.store.tasks.load(vault, id)).toBeUndefined()
      expect(await scene.store.tasks.list('/other')).toEqual([])
    })

    test.each<[end: string, order: Order]>([
      ['completed', { kind: 'done' }],
      ['halted', { kind: 'out-of-time' }],
      ['cancelled', { kind: 'cancel' }],
    ])('can be started again once they are %s, and the newest loop is theirs', async (_, order) => {
      await beginIn(scene.store.tasks, taskLoop('l1'), { inode: '1:1' })
      expect(await beginIn(scene.store.tasks, taskLoop('l2'), {})).toBe('l1')
      await expect(scene.store.load('l2')).rejects.toMatchObject({ code: 'loop-unknown' })
      await end('l1', order)
      expect(await beginIn(scene.store.tasks, taskLoop('l2'), { inode: '2:2' })).toBeUndefined()
      expect(await scene.store.tasks.load('/vault', 'a')).toMatchObject({ loop: 'l2', record: { inode: '2:2' } })
      expect(await scene.store.load('l1')).toMatchObject({ id: 'l1' })
    })

    test.each<[wait: string, order: Order]>([
      ['paused', { kind: 'pause' }],
      ['sent a message', { kind: 'say', words: 'x' }],
    ])('have not ended while they are %s', async (_, order) => {
      await beginIn(scene.store.tasks, taskLoop('l1'), {})
      await end('l1', order)
      expect(await beginIn(scene.store.tasks, taskLoop('l2'), {})).toBe('l1')
    })

    test('say when their loop last moved, and how often', async () => {
      await beginIn(scene.store.tasks, taskLoop('l1'), {})
      await end('l1', { kind: 'say', words: 'x' }, START + 5)
      await end('l1', { kind: 'say', words: 'y' }, START + 9)
      expect(await scene.store.tasks.load('/vault', 'a')).toMatchObject({ movedAt: START + 9, events: 2 })
    })

    test('have a record in which only the named fields change', async () => {
      const { tasks } = scene.store
      await beginIn(tasks, taskLoop('l1'), { inode: '1:1' })
      const progress = { total: 5, completed: 2, step: 'it\'s "half" 🦉', at: START }
      await tasks.change(TASK, { progress, files: null })
      await tasks.change(TASK, {})
      await tasks.change({ ...TASK, id: 'nobody' }, { exitReason: 'x' })
      await tasks.change({ ...TASK, loop: 'an earlier one' }, { exitReason: 'x' })
      expect((await tasks.load('/vault', 'a'))?.record).toEqual({ inode: '1:1', progress, files: null })
      await tasks.change(TASK, { progress: { ...progress, completed: 3 }, away: null, begun: true })
      const after = { inode: '1:1', progress: { ...progress, completed: 3 }, files: null, away: null, begun: true }
      expect((await tasks.load('/vault', 'a'))?.record).toEqual(after)
    })

    test('have a record in which only gaps are filled, and the first value counts', async () => {
      const { tasks } = scene.store
      await beginIn(tasks, taskLoop('l1'), {})
      await tasks.fill(TASK, { files: null, exitReason: 'completed' })
      await tasks.fill(TASK, { files: { created: 1, modified: 2 }, exitReason: 'other', away: 'Failed/a.md' })
      await tasks.fill({ ...TASK, loop: 'an earlier one' }, { inode: 'x' })
      const record = { files: null, exitReason: 'completed', away: 'Failed/a.md' }
      expect((await tasks.load('/vault', 'a'))?.record).toEqual(record)
    })

    test('lose no change of two connections at once', async () => {
      const other = await scene.connect()
      await beginIn(scene.store.tasks, taskLoop('l1'), {})
      await Promise.all([
        scene.store.tasks.change(TASK, { begun: true }),
        other.tasks.change(TASK, { exitReason: 'completed' }),
        scene.store.tasks.change(TASK, { away: null }),
        other.tasks.fill(TASK, { files: null }),
      ])
      const record = { begun: true, exitReason: 'completed', away: null, files: null }
      expect((await other.tasks.load('/vault', 'a'))?.record).toEqual(record)
    })

    test('are open until they have ended and their end was handled', async () => {
      const { tasks } = scene.store
      const openIds = async () => (await tasks.open('/vault')).map(({ id }) => id)
      await beginIn(tasks, taskLoop('l2', { id: 'later' }, START + 5), {})
      await beginIn(tasks, taskLoop('l1'), {})
      await beginIn(tasks, taskLoop('l3', { path: '/other' }), {})
      expect(await openIds()).toEqual(['a', 'later'])
      await tasks.change(TASK, { files: null })
      expect(await openIds()).toEqual(['a', 'later'])
      await end('l1')
      await end('l2')
      expect(await openIds()).toEqual(['later'])
    })

    test('are listed oldest first, of one vault or of all', async () => {
      await beginIn(scene.store.tasks, taskLoop('l2', { id: 'later' }, START + 5), {})
      await beginIn(scene.store.tasks, taskLoop('l1', { id: 'sooner' }, START), {})
      await beginIn(scene.store.tasks, taskLoop('l3', { path: '/other' }), {})
      expect((await scene.store.tasks.list('/vault')).map(({ id }) => id)).toEqual(['sooner', 'later'])
      expect((await scene.store.tasks.list()).map(({ vault, id }) => `${vault} ${id}`)).toHaveLength(3)
    })

    test('can be forgotten; their loop stays', async () => {
      await beginIn(scene.store.tasks, taskLoop('l1'), {})
      await scene.store.tasks.forget({ vault: '/vault', id: 'a', loop: 'another' })
      expect(await scene.store.tasks.load('/vault', 'a')).toBeDefined()
      await scene.store.tasks.forget({ vault: '/vault', id: 'a', loop: 'l1' })
      expect(await scene.store.tasks.load('/vault', 'a')).toBeUndefined()
      expect(await scene.store.load('l1')).toMatchObject({ id: 'l1' })
      expect(await beginIn(scene.store.tasks, taskLoop('l2'), {})).toBeUndefined()
    })

    test('move along with their vault', async () => {
      await beginIn(scene.store.tasks, taskLoop('l1'), { inode: '1:1' })
      await beginIn(scene.store.tasks, taskLoop('l2', { id: 'b', path: '/other' }), {})
      await scene.store.tasks.move('/vault', '/moved')
      expect(await scene.store.tasks.load('/vault', 'a')).toBeUndefined()
      expect(await scene.store.tasks.load('/moved', 'a')).toMatchObject({ loop: 'l1', record: { inode: '1:1' } })
      expect(await scene.store.tasks.load('/other', 'b')).toBeDefined()
    })

    test('overlap if another loop of the folder was running after their start', async () => {
      const others = () => scene.store.overlapping('l1', '/vault', START)
      await beginIn(scene.store.tasks, taskLoop('before', { id: 'before' }, START - 9), {})
      await end('before', { kind: 'cancel' }, START - 1)
      await beginIn(scene.store.tasks, taskLoop('l1'), {})
      await beginIn(scene.store.tasks, taskLoop('elsewhere', { path: '/other' }), {})
      expect(await others()).toBe(0)
      await beginIn(scene.store.tasks, taskLoop('open', { id: 'open' }), {})
      expect(await others()).toBe(1)
      await end('open', { kind: 'cancel' }, START + 1)
      expect(await others()).toBe(1)
      await beginIn(scene.store.tasks, taskLoop('old', { id: 'old' }, START - 9), {})
      expect(await others()).toBe(2)
      const wait = { kind: 'wait', why: 'person' } as const
      await beginIn(scene.store.tasks, { ...taskLoop('waits', { id: 'waits' }, START - 9), next: wait }, {})
      expect(await others()).toBe(2)
    })

    test('keep the count of a loop that does not start at zero', async () => {
      const loop = taskLoop('l1')
      await beginIn(scene.store.tasks, { ...loop, tally: { ...loop.tally, iteration: 7 } }, {})
      expect((await scene.store.list()).rows[0]?.iteration).toBe(7)
    })

    test('are started by one of several processes that try at once', async () => {
      const code = (loops: Loop[]) => `const loops = ${JSON.stringify(loops)}
        console.log('ready')
        process.stdin.once('data', async () => {
          for (const loop of loops) {
            const { path: vault, id } = loop.spec.work.owner
            console.log((await store.tasks.begin({ vault, id }, loop, {})) ?? 'begun')
          }
          await store.close()
          process.exit()
        })`
      const tasks = Array.from({ length: 50 }, (_, n) => `task-${n}`)
      const children = [1, 2, 3].map((number) => {
        const loops = tasks.map((id) => taskLoop(`${id}-of-${number}`, { id }))
        return scene.start(code(loops))
      })
      for (const child of children) await eventually(() => child.lines().length)
      for (const child of children) child.write('go\n')
      for (const { ended } of children) expect(await ended).toMatchObject({ code: 0, err: '' })
      for (const [index, id] of tasks.entries()) {
        const answers = children.map((child) => child.lines()[index + 1])
        const winner = (await scene.store.tasks.load('/vault', id))?.loop
        expect(answers.toSorted()).toEqual(['begun', winner, winner].toSorted())
      }
      expect((await scene.store.list()).rows).toHaveLength(50)
    })
  })
}
