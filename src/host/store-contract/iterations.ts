/** The turns that count, with their checks. */
import { describe, expect, test } from 'vitest'
import {
  asks,
  at,
  checked,
  checks,
  claims,
  crashes,
  isLimited,
  lost,
  MINUTE,
  noticed,
  START,
  turn,
  woke,
  works,
} from '../../engine/stories.test-support.ts'
import { type Scene, WORK } from './scene.ts'

const REPORT = { at: START, kind: 'stage', stage: 'TESTS', evidence: 'They pass.' } as const
const USAGE = { input: 1, cached: 2, output: 4 }

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

    test('know what happened in the turn', async () => {
      await scene.story(
        'a1',
        {},
        at(
          2,
          turn({
            words: 'Step\0 one 🦉',
            claim: { kind: 'weak' },
            tokens: 7,
            usage: USAGE,
            costUsd: 0.5,
            tree: 'tree 1',
          }),
        ),
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
          usage: USAGE,
          costUsd: 0.5,
          words: 'Step\0 one 🦉',
          verdicts: [],
          findings: [],
          reports: [],
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
          findings: [],
          reports: [],
        },
        expect.objectContaining({ n: 3, changed: undefined, words: 'blind' }),
      ])
    })

    test('have their checks, in order, with their output', async () => {
      const spec = { checks: ['npm test', 'npm run lint'] }
      const verdicts = [
        { check: 'npm test', result: 'fail', failures: 2, tail: '2 failed\0 🦉' },
        { check: 'npm run lint', result: 'pass', tail: '' },
      ] as const
      await scene.story('a1', spec, checks('fail'), works, claims('clear'), checked([...verdicts]), works)
      expect((await scene.store.iterations('a1')).map((iteration) => iteration.verdicts)).toEqual([[], verdicts, []])
    })

    test('have the last checks if they were run again', async () => {
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

    test('know what was claimed and reported, and the findings of their checks', async () => {
      const findings = noticed('tests-changed', 'a.test.ts')
      await scene.story(
        'a1',
        { stages: [{ name: 'TESTS', check: 'npm test' }, { name: 'DOCS' }] },
        checks('fail'),
        at(1, isLimited),
        at(2, woke),
        at(3, turn({ claim: { kind: 'weak', form: 'mentioned' } })),
        at(4, checks('fail')),
        at(5, turn({ claim: { kind: 'clear', stage: 'TESTS' }, reports: [REPORT] })),
        at(6, checked([{ check: 'npm test', result: 'fail', tail: '' }], findings)),
        at(7, asks('Tabs or blanks?')),
      )
      const found = await scene.store.iterations('a1')
      expect(found.map((row) => row.ask)).toEqual([
        undefined,
        undefined,
        { kind: 'question', words: 'Tabs or blanks?' },
      ])
      expect(found.map((row) => [row.form, row.stage, row.findings, row.reports])).toEqual([
        ['mentioned', undefined, [], []],
        [undefined, 'TESTS', findings, [REPORT]],
        [undefined, undefined, [], []],
      ])
      const [second] = await scene.store.iterations('a1', { after: 1, limit: 1 })
      expect(second).toEqual(found[1])
    })

    test('can be read in spans', async () => {
      await scene.story('a1', { until: true, checks: ['npm test'] }, checks('fail'), works, checks('fail'), works)
      const numbers = async (after: number, limit: number) =>
        (await scene.store.iterations('a1', { after, limit })).map(({ n, verdicts }) => [n, verdicts.length])
      expect(await numbers(0, 1)).toEqual([[1, 1]])
      expect(await numbers(1, 9)).toEqual([[2, 0]])
      expect(await numbers(2, 9)).toEqual([])
    })

    test('of one loop are not those of another', async () => {
      await scene.story('a1', {}, works)
      await scene.story('a2', {}, works, works)
      expect(await scene.store.iterations('a1')).toHaveLength(1)
      expect(await scene.store.iterations('a2')).toHaveLength(2)
    })
  })
}
