/** The last iterations of several loops, in short. */
import { describe, expect, test } from 'vitest'
import type { Spec } from '../../engine/loop.ts'
import {
  at,
  checked,
  checks,
  checksOn,
  claims,
  crashes,
  type Happening,
  idles,
  isUnusable,
  MINUTE,
  noticed,
  pause,
  proved,
  works,
} from '../../engine/stories.test-support.ts'
import type { Bar } from '../store.ts'
import { type Scene, upTo } from './scene.ts'

const CHECKED = { checks: ['npm test', 'npm run lint'] }
const ALWAYS = { checks: ['npm test'], until: true }
const STAGED = { stages: [{ name: 'TESTS', check: 'npm test' }, { name: 'DOCS' }] }
const claim = claims('clear')
const claimed = { claimed: true } as const
const refused = { claimed: true, refused: true } as const

type Shape = Partial<Omit<Spec, 'limits'>>

export function strips(scene: Scene): void {
  const barsOf = async (spec: Shape, ...story: Happening[]): Promise<Bar[] | undefined> => {
    await scene.story('a1', spec, ...story)
    return (await scene.store.strips(['a1'], 24))[0]?.bars
  }

  describe(`the strips of ${scene.name}`, () => {
    test('are those of the requested loops, in that order, without unknown ones', async () => {
      await scene.story('a1', {}, works)
      await scene.story('a2', {})
      const found = await scene.store.strips(['a2', 'nobody', 'a1', 'a'], 24)
      expect(found.map(({ loop, bars }) => [loop, bars.length])).toEqual([
        ['a2', 0],
        ['a1', 1],
      ])
    })

    test('have the last iterations, in order, with how long each took', async () => {
      await scene.story('a1', {}, ...upTo(9).map((minute) => at(minute * minute, works)))
      const [strip] = await scene.store.strips(['a1'], 3)
      expect(strip?.bars).toEqual([
        { n: 7, ms: 13 * MINUTE, result: 'none' },
        { n: 8, ms: 15 * MINUTE, result: 'none' },
        { n: 9, ms: 17 * MINUTE, result: 'none' },
      ])
    })

    test.each<[story: string, happenings: Happening[], bar: Partial<Bar>]>([
      ['nothing was checked', [works], { result: 'none' }],
      ['all checks pass', [claim, checks('pass')], { result: 'pass', ...claimed }],
      ['each of two checks fails', [claim, checks('fail')], { result: 'fail', failures: 2, ...refused }],
      ['both count their failures', [claim, checks('fail', 3)], { result: 'fail', failures: 6, ...refused }],
      ['a check is too slow', [claim, checks('timeout')], { result: 'fail', failures: 2, ...refused }],
      ['a hint that it is done is not a claim', [claims('weak'), checks('fail')], { result: 'fail', failures: 2 }],
      ['the claim has not been checked', [claim], { result: 'none', ...claimed }],
      ['it is paused before the checks', [claim, pause], { result: 'none', ...claimed }],
      ['nothing was changed', [idles], { result: 'none', idle: true }],
      ['only the start was checked', [], {}],
    ])('%s', async (_, happenings, bar) => {
      const bars = await barsOf(CHECKED, checks('fail', 9), ...happenings)
      expect(bars).toEqual(happenings.length === 0 ? [] : [{ n: 1, ms: 0, ...bar }])
    })

    test('show where more fails than after the previous checks, whatever came between', async () => {
      const rounds = [2, 3, 3].flatMap((failures) => [claim, checks('fail', failures), works])
      const bars = await barsOf({ checks: ['npm test'] }, checks('fail', 1), ...rounds)
      expect(bars?.map(({ failures, worse }) => [failures, worse])).toEqual([
        [2, undefined],
        [undefined, undefined],
        [3, true],
        [undefined, undefined],
        [3, undefined],
        [undefined, undefined],
      ])
      const [last] = await scene.store.strips(['a1'], 4)
      expect(last?.bars[0]).toMatchObject({ n: 3, failures: 3, worse: true })
    })

    test('show where means of proof were weakened, but not where they were added or inherited', async () => {
      const round = (...kinds: Parameters<typeof noticed>[0][]) => [
        works,
        checksOn('fail', { findings: kinds.flatMap((kind) => noticed(kind, 'a.test.ts')) }),
      ]
      const bars = await barsOf(
        ALWAYS,
        checks('fail'),
        ...round('tests-added', 'may-change', 'inherited'),
        ...round('tests-skipped'),
        ...round(),
        ...round('means-added', 'means-deleted'),
      )
      expect(bars?.map(({ weakened }) => weakened)).toEqual([undefined, true, undefined, true])
    })

    test('show where fewer tests ran', async () => {
      const ran = (tests: number) => checked([{ check: 'npm test', result: 'pass', tests, tail: '' }])
      const bars = await barsOf({ checks: ['npm test'] }, ran(10), works, claim, ran(4))
      expect(bars?.map(({ weakened }) => weakened)).toEqual([undefined, true])
    })

    test('show a claim that was refused although the checks pass', async () => {
      const bent = [
        claim,
        checksOn('pass', { findings: noticed('tests-changed', 'a.test.ts') }),
        ...[proved('sealed', 'fail'), proved('control', 'pass'), proved('reversed', 'pass')],
      ]
      const bars = await barsOf({ checks: ['npm test'] }, checks('fail'), ...bent, ...bent)
      expect(bars).toEqual([
        { n: 1, ms: 0, result: 'pass', weakened: true, ...refused },
        { n: 2, ms: 0, result: 'pass', weakened: true, ...refused },
      ])
    })

    test('do not take a stage that was claimed and passed for a refusal', async () => {
      const stage = claims('clear', 'TESTS')
      const bars = await barsOf(STAGED, checks('fail'), stage, checks('fail'), stage, checks('pass'), works)
      expect(bars).toEqual([
        { n: 1, ms: 0, result: 'fail', failures: 1, ...refused },
        { n: 2, ms: 0, result: 'pass', ...claimed },
        { n: 3, ms: 0, result: 'none' },
      ])
    })

    test.each<[story: string, spec: Shape, ...crash: Happening[]]>([
      ['an agent that crashes', {}, ...Array<Happening>(5).fill(at(5, crashes()))],
      ['an agent that cannot be used', {}, at(5, isUnusable('It is not logged in.'))],
    ])('end with %s, if the loop does', async (_, spec, ...crash) => {
      const bars = await barsOf(spec, at(1, works), ...crash)
      expect(bars).toEqual([
        { n: 1, ms: MINUTE, result: 'none' },
        { n: 2, ms: 4 * MINUTE, result: 'crash' },
      ])
      expect((await scene.store.strips(['a1'], 1))[0]?.bars).toMatchObject([{ n: 2 }])
    })

    test('show no crash while the loop tries again', async () => {
      expect(await barsOf({}, works, crashes())).toMatchObject([{ n: 1 }])
    })
  })
}
