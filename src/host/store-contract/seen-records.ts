/** How far a person has seen what happened. */
import { describe, expect, test } from 'vitest'
import { wantsPerson, works } from '../../engine/stories.test-support.ts'
import type { Scene } from './scene.ts'

export function seenRecords(scene: Scene): void {
  describe(`what a person has seen in ${scene.name}`, () => {
    test('is known to all, and never decreases', async () => {
      await scene.story('a1', {}, works, works, wantsPerson())
      expect(await scene.store.needing(0)).toMatchObject([{ loop: 'a1', n: 3, seen: 0 }])
      expect(await scene.store.seen.mark('a1', 2)).toBe(2)
      expect(await scene.store.seen.mark('a1', 1)).toBe(2)
      expect(await (await scene.connect()).needing(0)).toMatchObject([{ n: 3, seen: 2 }])
      expect(await scene.store.seen.mark('a1', 3)).toBe(3)
    })

    test('is no more than what has happened', async () => {
      await scene.story('a1', {}, works)
      expect(await scene.store.seen.mark('a1', 99)).toBe(1)
    })

    test('is nothing for a loop that does not exist', async () => {
      await scene.story('a1', {}, works)
      await expect(scene.store.seen.mark('a', 1)).rejects.toMatchObject({ code: 'loop-unknown' })
    })
  })
}
