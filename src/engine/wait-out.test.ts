import { describe, expect, test } from 'vitest'
import {
  at,
  crashes,
  type Happening,
  isLimited,
  isLimitedUntil,
  isOverloaded,
  isUnusable,
  loopAfter,
  MINUTE,
  nameOf,
  pause,
  play,
  resume,
  START,
  sentenceAfter,
  specOf,
  woke,
  works,
} from './stories.test-support.ts'

const twoHours = specOf({}, { overloadMinutes: 120 })
const stops = specOf({}, { onLimit: 'stop' })
const two = { agents: ['a', 'b'], work: { ...specOf().work, agent: 'a' } }

/** An agent whose service fails at these minutes. */
const overloadedAt = (...minutes: number[]): Happening[] =>
  minutes.flatMap((minute) => [at(minute, woke), at(minute, isOverloaded)])

describe('an overload', () => {
  test('is waited for as long as the limit says, then the agent is unusable', () => {
    const story = overloadedAt(0, 1, 3, 7, 15, 31, 61, 91)
    expect(nameOf(loopAfter(twoHours, ...story).next)).toBe('wait overload')
    expect(sentenceAfter(twoHours, ...story, ...overloadedAt(120))).toBe(
      'The agent is not usable: its service has failed for 2 hours. Overloaded.',
    )
    expect(play(twoHours, ...story, ...overloadedAt(120)).at(-1)).toBe('halt agent-unusable')
  })

  test('the last attempt comes exactly when that time is up', () => {
    expect(loopAfter(twoHours, ...overloadedAt(0, 1, 3, 7, 15, 31, 61, 91)).next).toMatchObject({
      until: START + 120 * MINUTE,
    })
  })

  test.each<[story: string, between: Happening]>([
    ['a turn that worked', works],
    ['a rate limit, which shows that the service answers', isLimited],
    ['a crash', crashes()],
  ])('%s starts the time again', (_, between) => {
    const story = [...overloadedAt(0, 60), at(61, woke), at(61, between), at(62, woke), ...overloadedAt(62, 121, 150)]
    expect(nameOf(loopAfter(twoHours, ...story).next)).toBe('wait overload')
  })

  test('resuming it starts the time again', () => {
    const story = [...overloadedAt(0, 60), at(70, pause), at(600, resume), at(600, resume), at(600, isOverloaded)]
    expect(nameOf(loopAfter(twoHours, ...story).next)).toBe('wait overload')
  })

  test('without a limit it is waited for forever', () => {
    expect(nameOf(loopAfter(specOf(), ...overloadedAt(0, 600, 1_200)).next)).toBe('wait overload')
  })

  test('with several agents all are named', () => {
    const both = specOf(two, { overloadMinutes: 120 })
    const story = [isOverloaded, isOverloaded, at(130, woke), at(130, isOverloaded)]
    expect(sentenceAfter(both, ...story)).toBe(
      'No agent is usable: their services have failed for 2 hours. a: Overloaded. · b: Overloaded.',
    )
  })
})

describe('with `stop`, a rate limit', () => {
  test('ends the loop at once, and says when the agent is back', () => {
    expect(play(stops, works, isLimitedUntil(47)).at(-1)).toBe('halt agent-unusable')
    expect(sentenceAfter(stops, isLimitedUntil(47))).toBe(
      'The agent is rate-limited, and ralph was told not to wait. It can continue in 47 minutes, at 2026-01-05 09:47 UTC: You hit your limit.',
    )
  })

  test('without a reset says so', () => {
    expect(sentenceAfter(stops, isLimited)).toBe(
      'The agent is rate-limited, and ralph was told not to wait. It does not say when it can continue: You hit your limit.',
    )
  })

  test('an overload is still waited for', () => {
    expect(nameOf(loopAfter(stops, isOverloaded).next)).toBe('wait overload')
  })

  test('another agent takes over first', () => {
    const both = specOf(two, { onLimit: 'stop' })
    expect(play(both, isLimitedUntil(47), isLimitedUntil(9))).toEqual(['turn 1 attempt 2', 'halt agent-unusable'])
    expect(sentenceAfter(both, isLimitedUntil(47), isLimitedUntil(9))).toContain('b can continue in 9 minutes')
    expect(play(both, isLimitedUntil(47), isUnusable('No key.')).at(-1)).toBe('halt agent-unusable')
  })
})
