/** An order from a person waits until the loop's driver has saved it. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Fact } from '../../engine/loop.ts'
import { works } from '../../engine/stories.test-support.ts'
import { loopOf, ORDERS, type Scene } from './scene.ts'

export function orders(scene: Scene): void {
  describe(`the orders of ${scene.name}`, () => {
    beforeEach(() => scene.store.create(loopOf('a1')))

    test('are taken in the order they came, each until it is saved', async () => {
      for (const words of ['one', 'two']) await scene.store.tell('a1', 'Ada', { kind: 'say', words })
      expect([await nextWords(), await nextWords()]).toEqual(['one', 'one'])
      await take()
      expect(await nextWords()).toBe('two')
      await take()
      expect(await scene.store.nextOrder('a1')).toBeUndefined()
    })

    test('keep their sender and their content', async () => {
      for (const order of ORDERS) {
        await scene.store.tell('a1', "Ada O'Hara", order)
        expect(await take()).toMatchObject({ kind: 'told', by: "Ada O'Hara", order, at: expect.any(Number) })
      }
    })

    test('let a cancel go first', async () => {
      await scene.store.tell('a1', 'Ada', { kind: 'say', words: 'one' })
      await scene.store.tell('a1', 'Ada', { kind: 'pause' })
      await scene.store.tell('a1', 'Bob', { kind: 'cancel' })
      expect(await take()).toMatchObject({ by: 'Bob', order: { kind: 'cancel' } })
      expect(await scene.store.nextOrder('a1')).toMatchObject({ order: { kind: 'say' } })
    })

    test('are seen by the driver, wherever they were given', async () => {
      await (await scene.connect()).tell('a1', 'Ada', { kind: 'pause' })
      expect(await scene.store.nextOrder('a1')).toMatchObject({ order: { kind: 'pause' } })
    })

    test('list their loops, all or those with one kind of order', async () => {
      await scene.store.create(loopOf('b2'))
      await scene.store.tell('a1', 'Ada', { kind: 'say', words: 'one' })
      await scene.store.tell('b2', 'Ada', { kind: 'say', words: 'two' })
      await scene.store.tell('b2', 'Ada', { kind: 'resume' })
      expect((await scene.store.ordered()).toSorted()).toEqual(['a1', 'b2'])
      expect(await scene.store.ordered('resume')).toEqual(['b2'])
      expect(await scene.store.ordered('allow')).toEqual([])
    })

    test('of one loop are not those of another', async () => {
      await scene.store.create(loopOf('a2'))
      await scene.store.tell('a2', 'Ada', { kind: 'cancel' })
      expect(await scene.store.nextOrder('a1')).toBeUndefined()
    })

    test('stay when another fact is saved', async () => {
      await scene.store.tell('a1', 'Ada', { kind: 'pause' })
      await scene.saves('a1', works)
      expect(await scene.store.nextOrder('a1')).toMatchObject({ order: { kind: 'pause' } })
    })

    async function nextWords(): Promise<string | undefined> {
      const fact = await scene.store.nextOrder('a1')
      return fact?.kind === 'told' && fact.order.kind === 'say' ? fact.order.words : undefined
    }

    async function take(): Promise<Fact | undefined> {
      const fact = await scene.store.nextOrder('a1')
      if (fact) await scene.saves('a1', fact)
      return fact
    }
  })
}
