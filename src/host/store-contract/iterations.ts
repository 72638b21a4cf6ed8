/** The turns that count, with their checks. */
import { describe, expect, test } from 'vitest'
import {
  at,
  checked,
  checks,
  claims,
  crashes,
  isLimited,
  lost,
  MINUTE,
  START,
  turn,
  woke,
  works,
} from '../../engine/stories.test-support.ts'
import { type Scene, WORK } from './scene.ts'

export function iterations(scene: Scene): void {
  describe(`the iterations of ${scene.name}`, () => {
    test('are the turns that count, once each', async () => {
      await scene.story('a1', {}, works, isLimited, woke, crashes(), works, lost, works)
      const iterations = await scene.store.iterations('a1')
      expect(iterations.map(({ n, attempts }) => [n, attempts])).toEqual([
        [1, 1],
        [2, 3],
        [3, 2],
      ])
    })

    test('know what the turn was like', async () => {
      await scene.story(
        'a1',
        {},
        at(2, turn({ words: 'Step\0 one 🦉', claim: { kind: 'weak' }, tokens: 7, costUsd: 0.5, tree: 'tree 1' })),
        at(5, turn({ end: 'context-full', words: 'full', tokens: 3, tree: 'tree 1' })),
        at(6, turn({ words: 'blind' })),
      )
      expect(await scene.store.iterations('a1')).toEqual([
        {
          n: 1,
          attempts: 1,
          startedAt: START,
          endedAt: START + 2 * MINUTE,
          agent: WORK.agent,
          end: 'ok',
          claim: 'weak',
          changed: true,
          tokens: 7,
          costUsd: 0.5,
          words: 'Step\0 one 🦉',
          verdicts: [],
        },
        {
          n: 2,
          attempts: 1,
          startedAt: START + 2 * MINUTE,
          endedAt: START + 5 * MINUTE,
          agent: WORK.agent,
          end: 'context-full',
          claim: 'none',
          changed: false,
          tokens: 3,
          costUsd: undefined,
          words: 'full',
          verdicts: [],
        },
        expect.objectContaining({ n: 3, changed: undefined, words: 'blind' }),
      ])
    })

    test('have their checks, in order, with their words', async () => {
      const spec = { checks: ['npm test', 'npm run lint'] }
      const verdicts = [
        { check: 'npm test', result: 'fail', failures: 2, tail: '2 failed\0 🦉' },
        { check: 'npm run lint', result: 'pass', tail: '' },
      ] as const
      await scene.story('a1', spec, checks('fail'), works, claims('clear'), checked([...verdicts]), works)
      expect((await scene.store.iterations('a1')).map((iteration) => iteration.verdicts)).toEqual([[], verdicts, []])
    })

    test('have the last checks when they were run again', async () => {
      const stages = [{ name: 'TESTS', check: 'npm test' }, { name: 'DOCS' }]
      await scene.story(
        'a1',
        { stages, until: true },
        checks('fail'),
        claims('clear', 'TESTS'),
        checks('pass'),
        checks('fail', 1, 'flaky'),
      )
      const [first] = await scene.store.iterations('a1')
      expect(first?.verdicts).toEqual([{ check: 'npm test', result: 'fail', failures: 1, tail: 'flaky' }])
    })

    test('of one loop are not those of another', async () => {
      await scene.story('a1', {}, works)
      await scene.story('a2', {}, works, works)
      expect(await scene.store.iterations('a1')).toHaveLength(1)
      expect(await scene.store.iterations('a2')).toHaveLength(2)
    })
  })
}
