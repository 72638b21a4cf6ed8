import { describe, expect, test } from 'vitest'
import {
  atCap,
  count,
  type Extent,
  estimateIterations,
  iterationLimit,
  neverStarts,
  overCap,
  retryAt,
  sizeOf,
} from './limits.ts'
import type { Size, Spec } from './loop.ts'
import {
  at,
  checkedByTests,
  checks,
  claims,
  crashes,
  endless,
  type Happening,
  halfAnHour,
  isLimited,
  isLimitedUntil,
  isOverloaded,
  loopAfter,
  lost,
  MINUTE,
  oneTurn,
  pause,
  play,
  resume,
  START,
  say,
  sentenceAfter,
  setLimits,
  specOf,
  threeTurns,
  times,
  turn,
  unchecked,
  uses,
  wantsPerson,
  woke,
  works,
} from './stories.test-support.ts'

const checkedHalfHour = specOf({ checks: ['npm test'] }, { minutes: 30 })

type StoryOf = [story: string, spec: Spec, facts: Happening[], asked: string]

describe('a wait', () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [4, 8],
    [5, 16],
    [6, 30],
    [7, 30],
    [50, 30],
  ])('after fault %i in a row takes %i minutes', (faults, minutes) => {
    for (const fault of [isLimited, isOverloaded]) {
      const { next } = loopAfter(unchecked, ...times(faults - 1, fault, woke), fault)
      expect(next).toMatchObject({ kind: 'wait', until: START + minutes * MINUTE })
    }
  })

  test('grows through limits and overloads alike, and restarts after a turn that worked', () => {
    expect(loopAfter(unchecked, isLimited, woke, isOverloaded).next).toMatchObject({ until: START + 2 * MINUTE })
    expect(loopAfter(unchecked, isLimited, woke, works, isLimited).next).toMatchObject({ until: START + MINUTE })
  })

  test.each<[reset: string, resetsAt: number | undefined, minutes: number]>([
    ['none', undefined, 1],
    ['in five hours', START + 300 * MINUTE, 300],
    ['in a week', START + 7 * 24 * 60 * MINUTE, 7 * 24 * 60],
    ['in a year', START + 365 * 24 * 60 * MINUTE, 1],
    ['now', START, 1],
    ['past', START - MINUTE, 1],
    ['not a number', Number.NaN, 1],
    ['never', Number.POSITIVE_INFINITY, 1],
  ])('with the reset %s', (_, resetsAt, minutes) => {
    expect(retryAt(1, START, resetsAt)).toBe(START + minutes * MINUTE)
  })

  test.each<StoryOf>([
    ['within the time limit', halfAnHour, [isLimitedUntil(29)], 'wait limit'],
    ['up to the deadline halts at once', halfAnHour, [isLimitedUntil(30)], 'halt timeout'],
    ['past the deadline halts at once', halfAnHour, [at(2, isLimitedUntil(300))], 'halt timeout'],
    ['past the deadline for an overload halts at once', halfAnHour, [at(29.5, isOverloaded)], 'halt timeout'],
    ['past the deadline is not checked', checkedHalfHour, [isLimitedUntil(300)], 'halt timeout'],
    ['counts against the time limit', halfAnHour, [isLimitedUntil(29), at(30, woke)], 'wait limit, halt timeout'],
    [
      'does not happen if the money is spent',
      specOf({}, { costUsd: 1 }),
      [turn({ end: 'limited', costUsd: 1 })],
      'halt cost',
    ],
    [
      'leaves the rest of the time',
      halfAnHour,
      [isLimitedUntil(20), at(20, woke), at(29, works), at(30, works)],
      'wait limit, turn 1 attempt 2, turn 2, halt timeout',
    ],
  ])('%s', (_, spec, facts, asked) => {
    expect(play(spec, ...facts).join(', ')).toBe(asked)
  })

  test('that is too long says when the agent could continue, and what it said', () => {
    expect(sentenceAfter(halfAnHour, at(2, isLimitedUntil(62)))).toBe(
      'The agent can continue in 60 minutes, which is past the time limit of 30 minutes: You hit your limit.',
    )
  })
})

describe('the clock', () => {
  const asked = at(10, wantsPerson())

  test.each<[story: string, facts: Happening[]]>([
    ['while paused', [at(10, pause), at(70, resume)]],
    ['while it waits for a person', [asked, at(70, say('Yes.'))]],
    ['while nobody answers', [asked, at(70, resume)]],
    ['while a question is paused', [asked, at(20, pause), at(30, resume), at(70, say('Yes.'))]],
    ['while a question is paused twice', [asked, at(20, pause), at(30, pause), at(40, resume), at(70, resume)]],
    ['while a question is answered in a pause', [asked, at(20, pause), at(30, say('Yes.')), at(70, resume)]],
    ['while limits change in a pause', [at(10, pause), at(30, setLimits({ tokens: 9 })), at(70, resume)]],
    ['while the driver is lost in a pause', [at(10, pause), at(30, lost), at(70, resume)]],
  ])('stands still %s', (_, facts) => {
    const loop = loopAfter(halfAnHour, ...facts)
    expect(loop.next).toMatchObject({ kind: 'turn', deadline: START + 90 * MINUTE })
    expect(play(loop, at(89, works)).at(-1)).toMatch(/^turn/)
    expect(play(loop, at(90, works)).at(-1)).toBe('halt timeout')
  })

  test('stands still for a paused check', () => {
    const rested = loopAfter(checkedHalfHour, at(10, claims('clear')), at(11, pause), at(71, resume))
    expect(play(rested, at(89, checks('fail')))).toEqual(['turn 2'])
    expect(play(rested, at(90, checks('fail')))).toEqual(['halt timeout'])
  })

  test('stands still for a paused wait', () => {
    const rested = loopAfter(halfAnHour, isLimitedUntil(20), at(11, pause), at(71, resume), at(72, woke))
    expect(rested.next).toMatchObject({ deadline: START + 90 * MINUTE })
  })

  test('adds up several waits', () => {
    const { next, tally } = loopAfter(halfAnHour, at(1, pause), at(2, resume), at(3, wantsPerson()), at(5, say('Yes.')))
    expect(next).toMatchObject({ deadline: START + 33 * MINUTE })
    expect(tally).not.toHaveProperty('restingSince')
  })

  test('that is set back gives no extra time', () => {
    expect(loopAfter(halfAnHour, at(10, pause), at(5, resume)).next).toMatchObject({ deadline: START + 30 * MINUTE })
  })

  test.each<[fault: string, facts: Happening[]]>([
    ['a limit', [isLimited, at(9, woke)]],
    ['an overload', [isOverloaded, at(9, woke)]],
    ['a crash', [at(9, crashes())]],
    ['a loss', [at(9, lost)]],
    ['a check', [claims('weak'), at(9, checks('fail'))]],
  ])('runs through %s', (_, facts) => {
    expect(loopAfter(checkedHalfHour, ...facts).next).toMatchObject({ deadline: START + 30 * MINUTE })
  })
})

describe('rule 7: a limit', () => {
  const everything = { minutes: 30, tokens: 1, costUsd: 1 }

  test.each<StoryOf>([
    ['of iterations', threeTurns, times(3, works), 'turn 2, turn 3, halt max-iterations'],
    ['of minutes', halfAnHour, [at(29.99, works), at(30, works)], 'turn 2, halt timeout'],
    ['of minutes, checked', checkedHalfHour, [at(30, works), at(31, checks('fail'))], 'check, halt timeout'],
    ['of tokens', specOf({}, { tokens: 100 }), [uses({ tokens: 99 }), uses({ tokens: 1 })], 'turn 2, halt tokens'],
    ['of cost', specOf({}, { costUsd: 1 }), [uses({ costUsd: 0.5 }), uses({ costUsd: 0.5 })], 'turn 2, halt cost'],
    ['of cost, reached by a lost attempt', specOf({}, { costUsd: 1 }), [{ ...lost, costUsd: 1 }], 'halt cost'],
    [
      'of iterations comes before minutes',
      specOf({}, { iterations: 1, minutes: 30 }),
      [at(31, works)],
      'halt max-iterations',
    ],
    [
      'of minutes comes before tokens',
      specOf({}, everything),
      [at(31, uses({ tokens: 1, costUsd: 1 }))],
      'halt timeout',
    ],
    ['of tokens comes before cost', specOf({}, everything), [uses({ tokens: 1, costUsd: 1 })], 'halt tokens'],
    [
      'of iterations, checked',
      specOf({ checks: ['npm test'] }, { iterations: 2 }),
      [works, works, checks('fail')],
      'turn 2, check, halt max-iterations',
    ],
  ])('%s', (_, spec, facts, asked) => {
    expect(play(spec, ...facts).join(', ')).toBe(asked)
  })

  test('does not apply at 0 iterations, as long as there is progress', () => {
    expect(play(endless, ...times(500, works)).at(-1)).toBe('turn 501')
  })

  test.each<[sentence: string, spec: Spec, facts: Happening[]]>([
    ['Reached the limit of 3 iterations.', threeTurns, times(3, works)],
    ['Reached the limit of 1 iteration.', oneTurn, [works]],
    ['Reached the time limit of 30 minutes.', halfAnHour, [at(30, works)]],
    ['Reached the time limit of 1 minute.', specOf({}, { minutes: 1 }), [at(1, works)]],
    ['Used 120 tokens; the limit is 100.', specOf({}, { tokens: 100 }), [uses({ tokens: 120 })]],
    ['Spent $1.25; the limit is $1.00.', specOf({}, { costUsd: 1 }), [uses({ costUsd: 1.25 })]],
  ])('says: %s', (sentence, spec, facts) => {
    expect(sentenceAfter(spec, ...facts)).toBe(sentence)
  })

  test.each([
    [-1, 0],
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, 0],
    [7, 7],
    [Number.MAX_VALUE, Number.MAX_SAFE_INTEGER],
  ])('counts a cost of %s as %i', (reported, counted) => {
    const { tally } = loopAfter(unchecked, uses({ tokens: reported, costUsd: reported }))
    expect([tally.tokens, tally.costUsd]).toEqual([counted, counted])
  })
})

describe('an adaptive limit', () => {
  const adaptive = specOf({ checks: ['npm test'] }, { iterations: 2, ceiling: 5 })
  const timed = specOf({ checks: ['npm test'] }, { iterations: 2, ceiling: 5, minutes: 30 })
  const fixed = specOf({ checks: ['npm test'] }, { iterations: 2 })
  const fails = (...failures: number[]) => failures.flatMap((n) => [claims('clear'), checks('fail', n, `${n} failed`)])

  test.each<StoryOf>([
    ['grows while failures fall', adaptive, fails(9, 7), 'turn 3'],
    ['grows by two', adaptive, [...fails(9, 7), works], 'turn 4'],
    ['grows by two only', adaptive, [...fails(9, 7), works, works, checks('fail', 7)], 'halt max-iterations'],
    ['grows again while they keep falling', adaptive, fails(9, 7, 6, 5), 'turn 5'],
    ['stays if failures stay', adaptive, fails(9, 9), 'halt max-iterations'],
    ['stays if failures rise', adaptive, fails(9, 10), 'halt max-iterations'],
    ['stays if failures fell once and rose', adaptive, fails(9, 7, 6, 8), 'halt max-iterations'],
    ['stays if nothing was compared', adaptive, [works, works, checks('fail', 9)], 'halt max-iterations'],
    ['stays without a ceiling', fixed, fails(9, 7), 'halt max-iterations'],
    ['stops at its ceiling', adaptive, fails(9, 8, 7, 6, 5), 'halt max-iterations'],
    [
      'does not outgrow the time limit',
      timed,
      [...fails(9), claims('clear'), at(31, checks('fail', 7))],
      'halt timeout',
    ],
    [
      'does not outgrow the breaker',
      adaptive,
      [...fails(9), claims('clear'), checks('broken')],
      'halt verifier-broken',
    ],
  ])('%s', (_, spec, facts, end) => {
    expect(play(spec, ...facts).at(-1)).toBe(end)
  })

  test('says how many iterations it reached', () => {
    const { spec, tally } = loopAfter(adaptive, ...fails(9, 8, 7, 6, 5))
    expect(iterationLimit(spec.limits, tally)).toBe(5)
    expect(sentenceAfter(adaptive, ...fails(9, 8, 7, 6, 5))).toBe('Reached the limit of 5 iterations.')
  })

  test.each<[size: Size, extent: Extent]>([
    ['S', { words: 0, items: 0, stages: 0, files: 0 }],
    ['S', { words: 140, items: 0, stages: 0, files: 500 }],
    ['M', { words: 150, items: 0, stages: 0, files: 0 }],
    ['M', { words: 20, items: 0, stages: 0, files: 501 }],
    ['M', { words: 20, items: 4, stages: 0, files: 0 }],
    ['M', { words: 20, items: 0, stages: 2, files: 501 }],
    ['L', { words: 450, items: 0, stages: 0, files: 0 }],
    ['L', { words: 450, items: 0, stages: 0, files: 5_000 }],
    ['L', { words: 1_000_000, items: 0, stages: 0, files: 501 }],
    ['XL', { words: 450, items: 0, stages: 0, files: 5_001 }],
    ['XL', { words: 450, items: 8, stages: 4, files: 5_001 }],
  ])('is of size %s by its extent %o', (size, extent) => {
    expect(sizeOf(extent)).toBe(size)
  })

  test.each<[first: number, size: Size]>([
    [6, 'S'],
    [10, 'M'],
    [16, 'L'],
    [24, 'XL'],
  ])('starts at %i by size %s', (first, size) => {
    expect(estimateIterations(size, [], 100)).toBe(first)
  })

  const oneToTwenty = Array.from({ length: 20 }, (_, n) => n + 1)

  test.each<[story: string, history: number[], ceiling: number, first: number]>([
    ['without history', [], 100, 6],
    ['with too little history', oneToTwenty.slice(0, 19), 100, 6],
    ['with enough of it: what nine in ten needed, plus two', oneToTwenty, 100, 20],
    ['whatever its order', oneToTwenty.toReversed(), 100, 20],
    ['with quick loops', Array(20).fill(1), 100, 3],
    ['never above the ceiling by size', [], 4, 4],
    ['never above the ceiling by history', oneToTwenty, 12, 12],
    ['never below one', [], 0, 1],
  ])('begins %s', (_, history, ceiling, first) => {
    expect(estimateIterations('S', history, ceiling)).toBe(first)
  })
})

test.each([
  [0, '0 minutes'],
  [1, '1 minute'],
  [2, '2 minutes'],
  [0.5, '0.5 minutes'],
])('counts %d as %s', (amount, words) => {
  expect(count(amount, 'minute')).toBe(words)
})

test('a limit set later counts what was used before', () => {
  expect(play(checkedByTests, uses({ tokens: 50 }), setLimits({ tokens: 40 })).at(-1)).toBe('halt tokens')
})

describe('a host that allows three turns in a row', () => {
  const grown = (turns: number) => loopAfter(specOf({}, { iterations: 0 }), ...times(turns, works))

  test.each<[turns: number, since: number, asked: string]>([
    [0, 0, 'within'],
    [2, 0, 'within'],
    [3, 0, 'the last'],
    [4, 0, 'over'],
    [4, 1, 'the last'],
    [4, 4, 'within'],
    [8, 4, 'over'],
  ])('after %i turns, counted from %i, is asked for a turn that is %s', (turns, since, asked) => {
    const loop = grown(turns)
    const found = overCap(loop, since, 3) ? 'over' : atCap(loop, since, 3) ? 'the last' : 'within'
    expect(found).toBe(asked)
  })

  test('and one without such a cap continues forever', () => {
    expect(overCap(grown(50), 0, Number.POSITIVE_INFINITY)).toBe(false)
    expect(atCap(grown(50), 0, Number.POSITIVE_INFINITY)).toBe(false)
  })
})

test.each([
  [0, false],
  [4_999, false],
  [5_000, true],
  [60_000, true],
])('an agent that is idle for %i ms never starts: %s', (idleMs, never) => {
  expect(neverStarts(idleMs)).toBe(never)
})
