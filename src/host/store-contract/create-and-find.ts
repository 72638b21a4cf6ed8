/** Loops are stored as they were created, and found by the start of their id. */
import { beforeEach, describe, expect, test } from 'vitest'
import { loopOf, PROMPT_OF_ALL_KINDS, type Scene } from './scene.ts'

export function createAndFind(scene: Scene): void {
  describe(`${scene.name} stores loops`, () => {
    test('as they were created', async () => {
      const loop = loopOf('a1', { prompt: PROMPT_OF_ALL_KINDS })
      await scene.store.create(loop)
      expect(await scene.store.load('a1')).toEqual(loop)
    })

    test('whatever the size of their prompt', async () => {
      const loop = loopOf('a1', { prompt: 'long 🦉\n'.repeat(150_000) })
      await scene.store.create(loop)
      expect(await scene.store.load('a1')).toEqual(loop)
      expect((await scene.store.list()).rows[0]?.prompt.length).toBeLessThan(1_000)
    })

    test('once each', async () => {
      await scene.store.create(loopOf('a1', { prompt: 'first' }))
      await expect(scene.store.create(loopOf('a1', { prompt: 'second' }))).rejects.toThrow()
      expect((await scene.store.load('a1')).spec.prompt).toBe('first')
      expect((await scene.store.list()).rows).toHaveLength(1)
    })

    test.each<[what: string, ask: () => Promise<unknown>]>([
      ['loaded', () => scene.store.load('nobody')],
      ['found', () => scene.store.find('nobody')],
      ['leased', () => scene.store.lease('nobody')],
      ['told', () => scene.store.tell('nobody', 'Ada', { kind: 'cancel' })],
    ])('and says so when an unknown one is %s', async (_, ask) => {
      await scene.store.create(loopOf('a1'))
      await expect(ask()).rejects.toMatchObject({ code: 'loop-unknown', message: expect.stringContaining('nobody') })
    })
  })

  describe(`${scene.name} finds a loop`, () => {
    beforeEach(async () => {
      for (const id of ['abc1', 'abc12', 'abd9', 'x_y%z']) await scene.store.create(loopOf(id))
    })

    test.each([
      ['abd9', 'abd9'],
      ['abd', 'abd9'],
      ['x', 'x_y%z'],
      ['abc1', 'abc1'],
      ['abc12', 'abc12'],
    ])('by %s', async (given, id) => {
      expect(await scene.store.find(given)).toBe(id)
    })

    test('but not by a prefix of several, which it names', async () => {
      await expect(scene.store.find('abc')).rejects.toMatchObject({
        code: 'loop-unknown',
        message: expect.stringMatching(/abc1.*abc12|abc12.*abc1/),
      })
    })

    test.each(['', 'zzz', 'bc1', 'ABC1', '%', '_', 'a%', 'abc1 ', "'"])('but not by "%s"', async (given) => {
      await expect(scene.store.find(given)).rejects.toMatchObject({ code: 'loop-unknown' })
    })
  })
}
