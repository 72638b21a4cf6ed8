/** Lists: order, pages, filters, sums. */
import { describe, expect, test } from 'vitest'
import {
  at,
  cancel,
  checks,
  claims,
  idles,
  MINUTE,
  START,
  uses,
  wantsPerson,
  works,
} from '../../engine/stories.test-support.ts'
import { idsOf, loopOf, type Scene, WORK } from './scene.ts'

export function pagingAndFilters(scene: Scene): void {
  describe(`${scene.name} lists loops`, () => {
    test('newest first, as many as are asked for', async () => {
      for (const minute of [2, 0, 3, 1]) await scene.store.create(loopOf(`m${minute}`, {}, minute))
      expect(idsOf(await scene.store.list())).toEqual(['m3', 'm2', 'm1', 'm0'])
      expect(idsOf(await scene.store.list({ limit: 2 }))).toEqual(['m3', 'm2'])
    })

    test('the later made first where the time is the same', async () => {
      for (const id of ['b', 'c', 'a']) await scene.store.create(loopOf(id))
      expect(idsOf(await scene.store.list())).toEqual(['a', 'c', 'b'])
    })

    test('of one folder alone', async () => {
      await scene.store.create(loopOf('here', { work: { ...WORK, dir: '/here' } }))
      await scene.store.create(loopOf('below', { work: { ...WORK, dir: '/here/below' } }))
      expect(idsOf(await scene.store.list({ dir: '/here' }))).toEqual(['here'])
      expect((await scene.store.list({ dir: '/elsewhere' })).rows).toEqual([])
    })

    test('with what has become of them', async () => {
      await scene.story(
        'a1',
        { checks: ['npm test'] },
        uses({ tokens: 120, costUsd: 0.25 }),
        at(3, claims('clear')),
        at(4, checks('fail')),
      )
      expect((await scene.store.list()).rows).toEqual([
        {
          id: 'a1',
          dir: WORK.dir,
          agent: WORK.agent,
          prompt: 'Make the parser faster.',
          owner: 'person',
          status: 'running',
          next: (await scene.store.load('a1')).next,
          iteration: 2,
          iterationLimit: 10,
          falseClaims: 1,
          tokens: 120,
          costUsd: 0.25,
          startedAt: START,
          updatedAt: START + 4 * MINUTE,
        },
      ])
    })
  })

  describe(`the sums of ${scene.name}`, () => {
    test('of nothing are nothing', async () => {
      expect(await scene.store.totals()).toEqual({
        loops: 0,
        byStatus: {},
        byReason: {},
        verified: 0,
        claimed: 0,
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
        works,
        claims('clear'),
        checks('fail'),
        claims('clear'),
        checks('pass'),
      )
      await scene.story('claimed', { work: other }, uses({ tokens: 10, costUsd: 0.5 }), claims('clear'))
      await scene.story('cancelled', { work: other }, works, cancel)
      await scene.story('halted', {}, ...Array(3).fill(idles))
      await scene.story('asking', {}, wantsPerson())
      await scene.store.create(loopOf('new'))
      expect(await scene.store.totals()).toEqual({
        loops: 6,
        byStatus: { completed: 2, cancelled: 1, halted: 1, 'needs-input': 1, running: 1 },
        byReason: { cancelled: 1, 'no-progress': 1 },
        verified: 1,
        claimed: 1,
        falseClaims: 1,
        iterations: 3 + 2 + 1 + 3 + 1,
        meanIterationsToDone: 2.5,
        tokens: 10,
        costUsd: 0.5,
        byAgent: [
          { agent: WORK.agent, loops: 4, completed: 1, iterations: 3 + 3 + 1, costUsd: 0 },
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
