/** One driver at a time, and the next one when it has died. */
import { beforeEach, describe, expect, test } from 'vitest'
import { works } from '../../engine/stories.test-support.ts'
import { eventually } from '../place.test-support.ts'
import type { Lease } from '../store.ts'
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

    test('that is refused does not take the right from its holder', async () => {
      const lease = granted(await scene.store.lease('a1'))
      await (await scene.connect()).lease('a1')
      const { loop, fact } = move(await scene.store.load('a1'), works)
      await scene.store.save(lease, loop, fact)
      expect((await scene.store.load('a1')).tally.iteration).toBe(1)
    })

    test('is free again once it is released, even for others', async () => {
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

    test('shows whether the loop is driven', async () => {
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

    test('of a killed process goes to the next one, whose epoch is higher', async () => {
      const holder = scene.start(
        `const lease = await store.lease('a1'); await save(lease); console.log('leased'); setInterval(() => {}, 1_000)`,
      )
      await eventually(() => holder.lines().includes('leased'))
      expect(await scene.store.lease('a1')).toEqual({ heldBy: expect.stringMatching(/\S/) })
      expect(await scene.store.isDriven('a1')).toBe(true)
      process.kill(holder.pid, 'SIGKILL')
      expect((await holder.ended).err).toBe('')
      const lease = await eventually(async () => {
        const answer = await scene.store.lease('a1')
        return 'epoch' in answer ? answer : undefined
      })
      expect(lease).toMatchObject({ loop: 'a1', epoch: 2 })
      expect((await scene.store.load('a1')).tally.iteration).toBe(1)
    })

    test('is lost when another takes over: a save is refused, and its signal fires', async () => {
      const old = granted(await scene.store.lease('a1'))
      const lease = await takenOver()
      expect([old.lost.aborted, lease.lost.aborted]).toEqual([false, false])
      const { loop, fact } = move(await scene.store.load('a1'), works)
      await expect(scene.store.save(old, loop, fact)).rejects.toMatchObject({ code: 'lease-lost' })
      expect([old.lost.aborted, lease.lost.aborted]).toEqual([true, false])
    })

    test('is lost for anyone who listens for changes, even if nothing is saved', async () => {
      const old = granted(await scene.store.lease('a1'))
      const stop = scene.store.onChange(() => {})
      const lost = new Promise((done) => old.lost.addEventListener('abort', done, { once: true }))
      await takenOver()
      await lost
      stop()
    })

    test('is not lost by being refused to others, or by being released', async () => {
      const lease = granted(await scene.store.lease('a1'))
      const other = await scene.connect()
      await other.lease('a1')
      const { loop, fact } = move(await scene.store.load('a1'), works)
      await scene.store.save(lease, loop, fact)
      await lease.release()
      expect(lease.lost.aborted).toBe(false)
    })

    async function takenOver(): Promise<Lease> {
      await scene.place.free('a1')
      return granted(await (await scene.connect()).lease('a1'))
    }
  })
}
