/** The totals over all loops. */
import { describe, expect, test } from 'vitest'
import type { Owner } from '../../engine/loop.ts'
import {
  at,
  cancel,
  checks,
  checksOn,
  claims,
  idles,
  MINUTE,
  noticed,
  START,
  uses,
  works,
} from '../../engine/stories.test-support.ts'
import type { NumbersFilter } from '../store.ts'
import { taskOf } from './board-records.ts'
import { idsOf, loopOf, type Scene, WORK } from './scene.ts'

const NOTHING = { usage: { input: 0, cached: 0, output: 0 }, checks: [], findings: [] }
const CHECKED = { checks: ['npm test'] }
const TYPED = { ...WORK, type: 'docs', size: 'L' as const }
const REFUSED_ONCE = [checks('fail'), works, claims('clear'), checks('fail'), claims('clear'), checks('pass')]
const FOUND = [...noticed('tests-deleted', 'a.test.ts'), ...noticed('tests-added', 'b.test.ts')]
const FILTERS: NumbersFilter[] = [
  { dir: '/there' },
  { agent: 'command:./agent' },
  { type: 'docs' },
  { size: 'L' },
  { owner: 'board' },
  { project_id: 'G1' },
  { since: START + MINUTE },
  { since: START + MINUTE, until: START + 10 * MINUTE, agent: 'command:./agent' },
]

export function sums(scene: Scene): void {
  describe(`the sums of ${scene.name}`, () => {
    test('of nothing are empty', async () => {
      expect(await scene.store.numbers()).toEqual([])
      expect(await scene.store.sums()).toEqual(NOTHING)
      expect(await scene.store.history()).toEqual([])
    })

    test('have one row per loop, newest first', async () => {
      await scene.story('verified', { ...CHECKED, work: TYPED }, ...REFUSED_ONCE)
      await scene.store.create(loopOf('new', {}, 1))
      expect(await scene.store.numbers()).toEqual([
        expect.objectContaining({ id: 'new', status: 'running', iterations: 0, iterationLimit: 10, findings: 0 }),
        {
          id: 'verified',
          dir: WORK.dir,
          agent: WORK.agent,
          owner: 'person',
          type: 'docs',
          size: 'L',
          status: 'completed',
          proof: 'verified',
          iterations: 3,
          iterationLimit: 10,
          falseClaims: 1,
          bent: 0,
          findings: 0,
          tokens: 0,
          costUsd: 0,
          startedAt: START,
          updatedAt: START,
        },
      ])
    })

    test('say why a loop stopped, what was bent and what was noticed', async () => {
      await scene.story('halted', {}, ...Array(3).fill(idles))
      await scene.story('found', CHECKED, checks('fail'), works, claims('clear'), checksOn('fail', { findings: FOUND }))
      const [found, halted] = (await scene.store.numbers()).sort((a, b) => (a.id < b.id ? -1 : 1))
      expect(halted).toMatchObject({ status: 'halted', reason: 'no-progress' })
      expect(found).toMatchObject({ findings: 2 })
      expect((await scene.store.sums()).findings).toEqual([
        { kind: 'tests-added', loops: 1 },
        { kind: 'tests-deleted', loops: 1 },
      ])
    })

    test('add up tokens by kind, and the checks that fail most, without the baseline', async () => {
      const usage = { input: 5, cached: 20, output: 1 }
      await scene.story('a', CHECKED, checks('fail'), uses({ usage }), claims('clear'), checks('fail'), works)
      await scene.story('b', CHECKED, checks('fail'), uses({ usage }), claims('clear'), checks('pass'))
      expect(await scene.store.sums()).toEqual({
        usage: { input: 10, cached: 40, output: 2 },
        checks: [{ check: 'npm test', runs: 2, failures: 1 }],
        findings: [],
      })
    })

    test('are those of the requested loops', async () => {
      const other = { ...TYPED, agent: 'command:./agent', dir: '/there', owner: { kind: 'board', task: 'T1' } as Owner }
      await scene.store.board.create(taskOf('T1', { project_id: 'G1' }))
      await scene.story('one', CHECKED, checks('fail'), claims('clear'), checks('fail'))
      await scene.store.create(loopOf('two', { work: other }, 5))
      await scene.saves('two', uses({ usage: { input: 1, cached: 2, output: 3 } }), cancel)
      for (const filter of FILTERS) {
        expect(idsOf({ rows: await scene.store.numbers(filter) })).toEqual(['two'])
        expect(await scene.store.sums(filter)).toEqual({ ...NOTHING, usage: { input: 1, cached: 2, output: 3 } })
      }
      expect(idsOf({ rows: await scene.store.numbers({ until: START + MINUTE }) })).toEqual(['one'])
      expect(idsOf({ rows: await scene.store.numbers({ project_id: 'G2' }) })).toEqual([])
      expect(idsOf({ rows: await scene.store.numbers({ ended: true }) })).toEqual([])
      expect(idsOf({ rows: await scene.store.numbers({ limit: 1 }) })).toEqual(['two'])
    })

    test('remember how many iterations a task took, newest first, only for completed loops', async () => {
      await scene.story('short', {}, works, at(1, claims('clear')))
      await scene.story('long', {}, works, works, works, at(2, claims('clear')))
      await scene.story('cancelled', {}, works, at(3, cancel))
      expect(await scene.store.history()).toEqual([4, 2])
    })
  })
}
