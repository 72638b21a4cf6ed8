/** One driver at a time, and the next one when it is gone. */
import { beforeEach, describe, expect, test } from 'vitest'
import { at, works } from '../../engine/stories.test-support.ts'
import { granted, loopOf, move, type Scene } from './scene.ts'

export function leaseAndTakeover(scene: Scene): void {
  describe(`the lease of ${scene.name}`, () => {
    beforeEach(() => scene.store.create(loopOf('a1')))

    test('has a higher epoch every time', async () => {
      const epochs: number[] = []
      for (let round = 0; round < 3; round++) {
        const lease = granted(await scene.store.lease('a1'))
        epochs.push(lease.epoch)
        await lease.release()
      }
      expect(epochs).toEqual([1, 2, 3])
    })

    test('names its loop', async () => {
      expect(granted(await scene.store.lease('a1')).loop).toBe('a1')
    })

    test('is refused while somebody holds it, and says who', async () => {
      granted(await scene.store.lease('a1'))
      const other = await scene.connect()
      for (const asked of [await scene.store.lease('a1'), await other.lease('a1')])
        expect(asked).toEqual({ heldBy: expect.stringMatching(/\S/) })
    })

    test('that is refused does not take the right from the one who holds it', async () => {
      const lease = granted(await scene.store.lease('a1'))
      await (await scene.connect()).lease('a1')
      const { loop, fact } = move(await scene.store.load('a1'), works)
      await scene.store.save(lease, loop, fact)
      expect((await scene.store.load('a1')).tally.iteration).toBe(1)
    })

    test('is free again once it is released, also for others', async () => {
      const other = await scene.connect()
      await granted(await scene.store.lease('a1')).release()
      expect(granted(await other.lease('a1')).epoch).toBe(2)
    })

    test('of another loop is another lease', async () => {
      await scene.store.create(loopOf('a2'))
      granted(await scene.store.lease('a1'))
      expect(granted(await scene.store.lease('a2')).epoch).toBe(1)
    })

    test('goes to exactly one of many that ask at once', async () => {
      const stores = await Promise.all(Array.from({ length: 5 }, scene.connect))
      const answers = await Promise.all(stores.map((each) => each.lease('a1')))
      expect(answers.filter((answer) => 'epoch' in answer)).toHaveLength(1)
    })

    test('tells whether the loop is driven', async () => {
      const other = await scene.connect()
      expect([await scene.store.isDriven('a1'), await other.isDriven('a1')]).toEqual([false, false])
      const lease = granted(await scene.store.lease('a1'))
      expect([await scene.store.isDriven('a1'), await other.isDriven('a1')]).toEqual([true, true])
      await lease.release()
      expect([await scene.store.isDriven('a1'), await other.isDriven('a1')]).toEqual([false, false])
    })

    test('is not disturbed by many who ask whether the loop is driven', async () => {
      const other = await scene.connect()
      for (let round = 0; round < 5; round++) {
        const [answer] = await Promise.all([scene.store.lease('a1'), other.isDriven('a1'), other.isDriven('a1')])
        await granted(answer).release()
      }
    })
  })
}
