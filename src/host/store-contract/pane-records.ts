/** What is known about agents in panes, and their mail. */
import { describe, expect, test } from 'vitest'
import { loopOf, PROMPT_OF_ALL_KINDS, type Scene } from './scene.ts'

const API = { crew: 'c1', name: 'api' }
const WEB = { crew: 'c1', name: 'web' }

export function paneRecords(scene: Scene): void {
  const panes = () => scene.store.panes
  const mailOf = async (crew = 'c1') => (await panes().mail(crew)).map(({ name, mail }) => [name, mail])

  describe(`the agents in panes in ${scene.name}`, () => {
    test('are known as they were last saved, to others as well', async () => {
      await panes().save(API, { state: 'READY' })
      await panes().save(API, { state: 'WORKING', words: PROMPT_OF_ALL_KINDS })
      await panes().save({ crew: 'c2', name: 'api' }, { state: 'DONE' })
      const record = { state: 'WORKING', words: PROMPT_OF_ALL_KINDS }
      expect(await panes().list('c1')).toEqual([{ ...API, record }])
      expect(await (await scene.connect()).panes.list('c1')).toEqual([{ ...API, record }])
      expect(await panes().list()).toHaveLength(2)
    })

    test('have mail in the order in which it was left, including mail from others', async () => {
      await panes().save(API, {})
      await panes().save(WEB, {})
      const other = await scene.connect()
      await panes().post(API, { kind: 'task', prompt: PROMPT_OF_ALL_KINDS })
      await other.panes.post(WEB, { kind: 'seen' })
      await other.panes.post(API, { kind: 'answered' })
      await panes().post({ crew: 'c1', name: '' }, { kind: 'add', agent: { name: 'new' } })
      expect(await mailOf()).toEqual([
        ['api', { kind: 'task', prompt: PROMPT_OF_ALL_KINDS }],
        ['web', { kind: 'seen' }],
        ['api', { kind: 'answered' }],
        ['', { kind: 'add', agent: { name: 'new' } }],
      ])
      expect(await mailOf('c2')).toEqual([])
    })

    test('get no mail if they are unknown', async () => {
      expect(await panes().post(API, { kind: 'seen' })).toBeUndefined()
      expect(await mailOf()).toEqual([])
    })

    test('are saved together with the mail that was handled, and with the change', async () => {
      await panes().save(API, { state: 'READY' }, { change: { state: 'READY' } })
      const first = (await panes().post(API, { kind: 'answered' })) ?? 0
      await panes().post(API, { kind: 'seen' })
      await panes().save(API, { state: 'DONE' }, { struck: [first], change: { state: 'DONE' } })
      expect(await mailOf()).toEqual([['api', { kind: 'seen' }]])
      const changes = await panes().changes(0, 'c1')
      expect(changes.map(({ name, change }) => [name, change])).toEqual([
        ['api', { state: 'READY' }],
        ['api', { state: 'DONE' }],
      ])
      expect(await panes().changes(changes[0]?.seq ?? 0)).toEqual(changes.slice(1))
      expect(await panes().changes(0, 'c2')).toEqual([])
    })

    test('start a task once, and none that was dropped', async () => {
      await panes().save(API, {})
      const task = (await panes().post(API, { kind: 'task', prompt: 'Write it.' })) ?? 0
      const loop = loopOf('a1')
      expect(await panes().begin(task, loop, API, { loop: loop.id })).toBe(true)
      expect(await scene.store.load(loop.id)).toEqual(loop)
      expect(await panes().list('c1')).toEqual([{ ...API, record: { loop: loop.id } }])
      expect(await mailOf()).toEqual([])
      expect(await panes().begin(task, loopOf('a2'), API, {})).toBe(false)
      expect(await panes().strike(task)).toBe(false)

      const dropped = (await panes().post(API, { kind: 'task', prompt: 'Not that.' })) ?? 0
      expect(await panes().strike(dropped)).toBe(true)
      const never = loopOf('a3')
      expect(await panes().begin(dropped, never, API, {})).toBe(false)
      await expect(scene.store.load(never.id)).rejects.toThrow()
    })

    test('are forgotten with their mail', async () => {
      await panes().save(API, {}, { change: { state: 'READY' } })
      await panes().save(WEB, {})
      await panes().post(API, { kind: 'seen' })
      await panes().post(WEB, { kind: 'seen' })
      await panes().forget(API)
      expect(await panes().list('c1')).toEqual([{ ...WEB, record: {} }])
      expect(await mailOf()).toEqual([['web', { kind: 'seen' }]])
      await panes().prune(Number.MAX_SAFE_INTEGER)
      expect(await panes().changes(0)).toEqual([])
    })
  })
}
