import { describe, expect, test } from 'vitest'
import { alikeIn, forecastOf, type Traits } from './forecast.ts'
import { comparedWith, forecastSentence, noForecast } from './forecast-words.ts'
import { done, halted, many } from './numbers.test-support.ts'

describe('the most similar loops', () => {
  const traits: Traits = { dir: '/work', agent: 'claude', type: 'docs', size: 'S' }
  const same = () => done(1, { type: 'docs', size: 'S' })
  const elsewhere = () => done(1, { dir: '/other' })

  test.each([
    ['in all', 25, [same], ['dir', 'agent', 'type', 'size']],
    ['of the folder', 19, [same, () => done(1)], ['dir', 'agent']],
    ['of the agent', 19, [same, elsewhere], ['agent']],
    ['of any kind', 10, [same, () => done(1, { dir: '/other', agent: 'codex' })], []],
  ])('%s are taken', (_, times, kinds, by) => {
    const alike = alikeIn(
      kinds.flatMap((kind) => many(times, kind)),
      traits,
    )
    expect(alike.by).toEqual(by)
    expect(alike.loops.length).toBeGreaterThanOrEqual(20)
  })

  test('unknown traits of the new loop are not compared', () => {
    expect(alikeIn(many(20, same), { dir: '/work' }).by).toEqual(['dir'])
  })

  test('are named', () => {
    const alike = alikeIn(many(20, same), traits)
    expect(comparedWith(alike, traits)).toBe('20 finished loops in this folder with claude of type docs of size S')
  })
})

describe('a forecast', () => {
  const history = [
    ...many(12, () => done(1, { costUsd: 0.5 })),
    ...many(6, () => done(4, { costUsd: 2 })),
    ...many(6, () => halted(10, 'max-iterations')),
  ]

  test('needs 20 loops', () => {
    expect(forecastOf(history.slice(0, 19), { done: 0, limit: 10 })).toBeUndefined()
    expect(noForecast(19, { done: 0, limit: 10 })).toBe('Not enough history: 19 finished loops, a forecast needs 20.')
  })

  test('gives the chance to finish, iterations and cost, each with its range', () => {
    const standing = { done: 0, limit: 10 }
    const forecast = forecastOf(history, standing)
    expect(forecast).toMatchObject({
      iterations: { median: 1, p90: 4 },
      costUsd: { low: 0.5, median: 0.5, high: 2, loops: 18 },
      iterationUsd: 0.5,
    })
    expect(forecast?.chance.rate).toBeCloseTo(0.78, 1)
    expect(forecast?.chance.low).toBeLessThan(0.65)
    expect(forecast && forecastSentence(forecast, standing)).toMatch(
      /^\d+% complete within 10 iterations \(\d+–\d+%\); half of the loops that complete take up to 1, nine in ten up to 4; \$0\.50 to \$2\.00, median \$0\.50$/,
    )
  })

  test('for a running loop is about those that got further', () => {
    const standing = { done: 1, limit: 10 }
    const forecast = forecastOf(history, standing)
    expect(forecast).toMatchObject({ iterations: { median: 4, p90: 4 }, costUsd: { loops: 6 } })
    expect(forecast && forecastSentence(forecast, standing)).toMatch(/^\d+% still complete within 10 iterations/)
    expect(forecastOf(history, { done: 10, limit: 12 })).toBeUndefined()
    expect(noForecast(24, { done: 10, limit: 12 })).toBe('No earlier loop went beyond iteration 10.')
  })

  test('falls with the limit', () => {
    const chance = (limit: number) => forecastOf(history, { done: 0, limit })?.chance.rate ?? 0
    expect(chance(1)).toBeLessThan(chance(4))
    expect(chance(4)).toBeLessThanOrEqual(chance(0))
  })
})
