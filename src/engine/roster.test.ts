import { describe, expect, test } from 'vitest'
import type { Loop } from './loop.ts'
import {
  at,
  crashes,
  type Happening,
  isLimited,
  isLimitedUntil,
  isOverloaded,
  isUnusable,
  loopAfter,
  resume,
  specOf,
  woke,
  works,
} from './stories.test-support.ts'

const three = specOf({ agents: ['a', 'b', 'c'], work: { ...specOf().work, agent: 'a' } })

/** Which agent is asked for next, or what else. */
function who(...story: Happening[]): string {
  return nameOf(loopAfter(three, ...story))
}

function nameOf({ next }: Loop): string {
  if (next.kind === 'turn') return `${next.agent} ${next.iteration}.${next.attempt}`
  return next.kind === 'halt' ? next.reason : next.kind
}

describe('with several agents', () => {
  test.each<[story: string, facts: Happening[], next: string]>([
    ['the first starts', [], 'a 1.1'],
    ['the first continues', [works, works], 'a 3.1'],
    ['the next takes over from one that is rate-limited, at once and for the same iteration', [isLimited], 'b 1.2'],
    ['the next takes over from one that is overloaded', [isOverloaded], 'b 1.2'],
    ['the next takes over from one that is unusable', [isUnusable('No key.')], 'b 1.2'],
    ['a crash is tried again with the same one', [crashes()], 'a 1.2'],
    ['the third takes over when both are rate-limited', [isLimited, isLimited], 'c 1.3'],
    ['it continues while the first is rate-limited', [isLimitedUntil(10), works, at(5, works)], 'b 3.1'],
    ['the first is tried again when its limit resets', [isLimitedUntil(10), works, at(10, works)], 'a 3.1'],
    ['one that is unusable is never tried again', [isUnusable('No key.'), at(9_999, works)], 'b 2.1'],
    ['if all are rate-limited, the loop waits', [isLimited, isLimited, isLimited], 'wait'],
    [
      'the first to be back is asked after a wait',
      [isLimitedUntil(9), isLimitedUntil(3), isLimitedUntil(5), at(3, woke)],
      'b 1.4',
    ],
    [
      'a person who will not wait gets the agent that would be back first',
      [isLimitedUntil(9), isLimitedUntil(3), isLimitedUntil(5), resume],
      'b 1.4',
    ],
    [
      'the loop waits for the rate-limited one if no other is usable',
      [isLimited, isUnusable('x'), isUnusable('y')],
      'wait',
    ],
    ['none left ends the loop', [isUnusable('x'), isUnusable('y'), isUnusable('z')], 'agent-unusable'],
  ])('%s', (_, facts, next) => {
    expect(who(...facts)).toBe(next)
  })

  test('a wait lasts until the first of them is back', () => {
    const { next } = loopAfter(three, isLimitedUntil(9), isLimitedUntil(3), isLimitedUntil(5))
    const start = loopAfter(three).tally.startedAt
    expect(next).toMatchObject({ kind: 'wait', why: 'limit', until: start + 3 * 60_000 })
  })

  test('the end says why each of them is unusable', () => {
    const { next } = loopAfter(three, isUnusable('No key.'), isUnusable('No credit.'), isUnusable('No model.'))
    expect(next).toMatchObject({
      sentence: 'No agent is usable: a: No key. · b: No credit. · c: No model.',
    })
  })

  test('one that worked again has its patience back', () => {
    const story = [isLimited, isLimited, isLimited, at(1, woke), at(1, works)]
    expect(loopAfter(three, ...story).tally.resting).not.toHaveProperty('a')
    expect(loopAfter(three, ...story).tally.resting).toHaveProperty('b')
  })
})
