import { describe, expect, test } from 'vitest'
import { analyse } from './analytics.ts'
import { done, halted, loopWith, NO_SUMS } from './numbers.test-support.ts'

const LOOPS = [
  done(1, { costUsd: 1, type: 'docs', size: 'S' }),
  done(3, { costUsd: 3, falseClaims: 2, tokens: 10 }),
  done(2, { proof: 'altered', agent: 'codex', findings: 2 }),
  { ...halted(10, 'max-iterations'), costUsd: 4, bent: 2, falseClaims: 1 },
  { ...halted(3, 'no-progress'), costUsd: 2 },
  loopWith({ status: 'cancelled', reason: 'cancelled', iterations: 1, costUsd: 0.5, day: 1 }),
  loopWith({ status: 'running', iterations: 0, day: 1 }),
]

describe('analytics', () => {
  const analytics = analyse(LOOPS, {
    usage: { input: 1, cached: 2, output: 3 },
    checks: [{ check: 'npm test', runs: 4, failures: 1 }],
    findings: [{ kind: 'tests-changed', loops: 1 }],
  })

  test('are empty without loops', () => {
    expect(analyse([], NO_SUMS)).toMatchObject({
      loops: 0,
      success: { count: 0, of: 0 },
      cost: { totalUsd: 0, onNothingUsd: 0 },
      iterations: { total: 0, histogram: [] },
      byAgent: [],
      days: [],
    })
  })

  test('count successes among the loops that ended by themselves', () => {
    expect(analytics.success).toMatchObject({ count: 3, of: 5, rate: 0.6 })
    expect(analytics.byGrade.map(({ grade, count, of }) => [grade, count, of])).toEqual([
      ['verified', 2, 5],
      ['tested', 0, 5],
      ['kept', 0, 5],
      ['altered', 1, 5],
      ['claimed', 0, 5],
    ])
    expect(analytics.byStatus).toEqual({ completed: 3, halted: 2, cancelled: 1, running: 1 })
    expect(analytics.stops.map(({ reason }) => reason)).toEqual(['cancelled', 'max-iterations', 'no-progress'])
  })

  test('say how many iterations a task takes', () => {
    expect(analytics.iterations).toEqual({
      total: 20,
      toDone: { loops: 3, mean: 2, median: 2, p90: 3 },
      histogram: [
        { iterations: 1, completed: 1, stopped: 0 },
        { iterations: 2, completed: 1, stopped: 0 },
        { iterations: 3, completed: 1, stopped: 1 },
        { iterations: 10, completed: 0, stopped: 1 },
      ],
    })
    expect(analytics.finishing).toHaveLength(10)
  })

  test('say what a completed loop costs, with and without those that failed, and what was spent for nothing', () => {
    expect(analytics.cost).toEqual({
      totalUsd: 10.5,
      completed: 2,
      perCompletedUsd: 2,
      withFailuresUsd: 5.25,
      onNothingUsd: 6.5,
    })
  })

  test('say which claims were refused, and what happened to tests', () => {
    expect(analytics.falseClaims).toMatchObject({ claims: 3, loops: { count: 2, of: 6 } })
    expect(analytics.weakened).toMatchObject({ refused: 2, altered: 1, loops: { count: 2, of: 6 } })
    expect(analytics.checks).toEqual([{ check: 'npm test', runs: 4, failures: 1, rate: 0.25 }])
    expect(analytics.tokens).toEqual({ total: 10, input: 1, cached: 2, output: 3 })
  })

  test('are grouped by agent, type and size; unknown comes last', () => {
    expect(analytics.byAgent.map(({ name, loops }) => [name, loops])).toEqual([
      ['claude', 6],
      ['codex', 1],
    ])
    expect(analytics.byType.map(({ name, loops }) => [name, loops])).toEqual([
      ['docs', 1],
      [null, 6],
    ])
    expect(analytics.bySize[0]).toMatchObject({ name: 'S', success: { count: 1, of: 1 }, costUsd: 1 })
  })

  test('follow the calendar', () => {
    expect(analytics.days.map(({ day, loops, completed, halted: n }) => [day, loops, completed, n])).toEqual([
      ['2026-01-05', 5, 3, 2],
      ['2026-01-06', 2, 0, 0],
    ])
  })
})
