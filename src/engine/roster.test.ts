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

/** Who is asked for next, or what else. */
function who(...story: Happening[]): string {
  return nameOf(loopAfter(three, ...story))
}

function nameOf({ next }: Loop): string {
  if (next.kind === 'turn') return `${next.agent} ${next.iteration}.${next.attempt}`
  return next.kind === 'halt' ? next.reason : next.kind
}

describe('of several agents', () => {
  test.each<[story: string, facts: Happening[], next: string]>([
    ['the first begins', [], 'a 1.1'],
    ['the first goes on', [works, works], 'a 3.1'],
    ['the next takes over from one that is limited, at once and for the same iteration', [isLimited], 'b 1.2'],
    ['the next takes over from one that is overloaded', [isOverloaded], 'b 1.2'],
    ['the next takes over from one that cannot be used', [isUnusable('No key.')], 'b 1.2'],
    ['a crash is tried again with the same one', [crashes()], 'a 1.2'],
    ['the one after next, when both are limited', [isLimited, isLimited], 'c 1.3'],
    ['it goes on while the first is limited', [isLimitedUntil(10), works, at(5, works)], 'b 3.1'],
    ['the first is tried again when its limit resets', [isLimitedUntil(10), works, at(10, works)], 'a 3.1'],
    ['one that cannot be used is never tried again', [isUnusable('No key.'), at(9_999, works)], 'b 2.1'],
    ['all limited is a wait', [isLimited, isLimited, isLimited], 'wait'],
    [
      'whoever is back first is asked after a wait',
      [isLimitedUntil(9), isLimitedUntil(3), isLimitedUntil(5), at(3, woke)],
      'b 1.4',
    ],
    [
      'a person who will not wait gets whoever would be back first',
      [isLimitedUntil(9), isLimitedUntil(3), isLimitedUntil(5), resume],
      'b 1.4',
    ],
    ['the limited one is waited for when no other can be used', [isLimited, isUnusable('x'), isUnusable('y')], 'wait'],
    ['none left ends the loop', [isUnusable('x'), isUnusable('y'), isUnusable('z')], 'agent-unusable'],
  ])('%s', (_, facts, next) => {
    expect(who(...facts)).toBe(next)
  })

  test('a wait lasts until the first of them is back', () => {
    const { next } = loopAfter(three, isLimitedUntil(9), isLimitedUntil(3), isLimitedUntil(5))
    const start = loopAfter(three).tally.startedAt
    expect(next).toMatchObject({ kind: 'wait', why: 'limit', until: start + 3 * 60_000 })
  })

  test('the end says why each of them cannot be used', () => {
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
