/** What all loops come to together. */
import { describe, expect, test } from 'vitest'
import { at, cancel, checks, claims, idles, uses, wantsPerson, works } from '../../engine/stories.test-support.ts'
import { loopOf, type Scene, WORK } from './scene.ts'

export function sums(scene: Scene): void {
  describe(`the sums of ${scene.name}`, () => {
    test('of nothing are nothing', async () => {
      expect(await scene.store.totals()).toEqual({
        loops: 0,
        byStatus: {},
        byReason: {},
        byProof: { verified: 0, tested: 0, kept: 0, altered: 0, claimed: 0 },
        falseClaims: 0,
        iterations: 0,
        meanIterationsToDone: undefined,
        tokens: 0,
        costUsd: 0,
        byAgent: [],
      })
      expect(await scene.store.history()).toEqual([])
    })

    test('count every loop once', async () => {
      const other = { ...WORK, agent: 'command:./agent' }
      const checkedSpec = { checks: ['npm test'] }
      await scene.story(
        'verified',
        checkedSpec,
        checks('fail'),
        works,
        claims('clear'),
        checks('fail'),
        claims('clear'),
        checks('pass'),
      )
      await scene.story('kept', checkedSpec, checks('pass'), claims('clear'), checks('pass'))
      await scene.story('claimed', { work: other }, uses({ tokens: 10, costUsd: 0.5 }), claims('clear'))
      await scene.story('cancelled', { work: other }, works, cancel)
      await scene.story('halted', {}, ...Array(3).fill(idles))
      await scene.story('asking', {}, wantsPerson())
      await scene.store.create(loopOf('new'))
      expect(await scene.store.totals()).toEqual({
        loops: 7,
        byStatus: { completed: 3, cancelled: 1, halted: 1, 'needs-input': 1, running: 1 },
        byReason: { cancelled: 1, 'no-progress': 1 },
        byProof: { verified: 1, tested: 0, kept: 1, altered: 0, claimed: 1 },
        falseClaims: 1,
        iterations: 3 + 1 + 2 + 1 + 3 + 1,
        meanIterationsToDone: 2,
        tokens: 10,
        costUsd: 0.5,
        byAgent: [
          { agent: WORK.agent, loops: 5, completed: 2, iterations: 3 + 1 + 3 + 1, costUsd: 0 },
          { agent: other.agent, loops: 2, completed: 1, iterations: 2 + 1, costUsd: 0.5 },
        ],
      })
    })

    test('remember how many iterations a task took, newest first, of completed loops alone', async () => {
      await scene.story('short', {}, works, at(1, claims('clear')))
      await scene.story('long', {}, works, works, works, at(2, claims('clear')))
      await scene.story('cancelled', {}, works, at(3, cancel))
      expect(await scene.store.history()).toEqual([4, 2])
    })
  })
}
