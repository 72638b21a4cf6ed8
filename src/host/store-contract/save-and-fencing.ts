/** A fact is saved completely, and only by the newest lease. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  at,
  checks,
  claims,
  idles,
  lost,
  MINUTE,
  pause,
  START,
  say,
  woke,
  works,
} from '../../engine/stories.test-support.ts'
import { ANYTHING, granted, loopOf, move, type Scene, upTo } from './scene.ts'

export function saveAndFencing(scene: Scene): void {
  describe(`what ${scene.name} saves`, () => {
    test('can be loaded again, by others as well', async () => {
      const loop = await scene.story(
        'a1',
        { checks: ['npm test'] },
        checks('fail'),
        works,
        claims('clear'),
        checks('fail', 3),
      )
      expect(await scene.store.load('a1')).toEqual(loop)
      expect(await (await scene.connect()).load('a1')).toEqual(loop)
    })

    test('has one event for each fact, numbered from 1', async () => {
      await scene.story('a1', {}, works, at(1, idles), at(2, pause))
      const events = await scene.store.events(0, 'a1')
      expect(events.map(({ loop, n, at: time }) => [loop, n, (time - START) / MINUTE])).toEqual([
        ['a1', 1, 0],
        ['a1', 2, 1],
        ['a1', 3, 2],
      ])
      expect(events.map(({ fact }) => fact.kind)).toEqual(['turned', 'turned', 'told'])
      expect(events.at(-1)?.next).toEqual({ kind: 'wait', why: 'paused' })
    })

    test('is refused if the loop has been taken over, and leaves nothing behind', async () => {
      await scene.store.create(loopOf('a1'))
      await scene.store.tell('a1', 'Ada', { kind: 'say', words: 'faster' })
      const old = granted(await scene.store.lease('a1'))
      await old.release()
      const other = await scene.connect()
      const lease = granted(await other.lease('a1'))
      const before = await scene.everything('a1')
      const told = await scene.store.nextOrder('a1')
      for (const happening of [works, told ?? lost]) {
        const { loop, fact } = move(await scene.store.load('a1'), happening)
        await expect(scene.store.save(old, loop, fact)).rejects.toMatchObject({
          name: 'RalphError',
          code: 'lease-lost',
        })
      }
      expect(await scene.everything('a1')).toEqual(before)
      const { loop, fact } = move(await other.load('a1'), works)
      await other.save(lease, loop, fact)
      expect((await scene.store.events(0, 'a1')).map(({ n }) => n)).toEqual([1])
    })

    test('is written completely or not at all', async () => {
      const loop = await scene.story('a1', {}, works, say('go on'))
      await scene.store.tell('a1', 'Ada', { kind: 'say', words: 'stay' })
      const before = await scene.everything('a1')
      const lease = granted(await scene.store.lease('a1'))
      const second = move(loop, works)
      await scene.store.save(lease, second.loop, second.fact)
      // A driver that counts backwards would write iteration 2 again.
      await scene.store.save(lease, loop, woke)
      const inBetween = await scene.everything('a1')
      await expect(scene.store.save(lease, second.loop, second.fact)).rejects.toThrow()
      expect(await scene.everything('a1')).toEqual(inBetween)
      expect(before.events).toHaveLength(2)
    })

    test('is what was saved, whatever happened', async () => {
      let run = 0
      await fc.assert(
        fc.asyncProperty(fc.array(fc.constantFrom(...ANYTHING), { maxLength: 25 }), async (happenings) => {
          const id = `run-${++run}`
          const loop = await scene.story(id, { checks: ['npm test'] }, ...happenings)
          expect(await scene.store.load(id)).toEqual(loop)
          const events = await scene.store.events(0, id)
          expect(events.map(({ n }) => n)).toEqual(happenings.map((_, index) => index + 1))
          expect(events.at(-1)?.next ?? loop.next).toEqual(loop.next)
          expect((await scene.store.iterations(id)).map(({ n }) => n)).toEqual(upTo(loop.tally.iteration))
        }),
        { numRuns: 25 },
      )
    })
  })
}
