import { describe, expect, test } from 'vitest'
import { startLoop, statusOf } from './loop.ts'
import { claims, claimsIdly, loopAfter, play, START, say, specOf, told, wantsPerson } from './stories.test-support.ts'

const queued = startLoop('L1', specOf({}), { at: START, queued: true })
const checked = startLoop('L1', specOf({ checks: ['npm test'] }), { at: START, queued: true })

describe('a queued loop', () => {
  test('only waits', () => {
    expect(queued.next).toEqual({ kind: 'wait', why: 'queued' })
    expect(statusOf(queued)).toBe('queued')
  })
  test('is started by its driver, not by an order', () => {
    for (const loop of [queued, checked]) expect(statusOf(loopAfter(loop, told({ kind: 'resume' })))).toBe('queued')
  })
  test('can be paused, and is queued again afterwards', () => {
    const paused = loopAfter(queued, told({ kind: 'pause' }))
    expect(statusOf(paused)).toBe('paused')
    expect(statusOf(loopAfter(paused, told({ kind: 'resume' })))).toBe('queued')
  })
  test('can be cancelled', () => {
    expect(play(queued, told({ kind: 'cancel' }))).toEqual(['halt cancelled'])
  })
  test('keeps messages for its first turn', () => {
    const { tally } = loopAfter(queued, told({ kind: 'say', words: 'Use tabs.' }), told({ kind: 'resume' }))
    expect(tally.said).toEqual([{ by: 'person', words: 'Use tabs.' }])
  })
})

describe('a loop of one turn', () => {
  const once = specOf({ once: true }, { iterations: 1 })

  test('completes with a clear claim, even if nothing has changed', () => {
    expect(play(once, claimsIdly('clear'))).toEqual(['complete claimed'])
  })
  test('gets another turn for the answer to its question', () => {
    expect(play(once, wantsPerson(), say('Yes.')).at(-1)).toBe('turn 2')
    expect(play(once, wantsPerson(), say('Yes.'), claims('clear')).at(-1)).toBe('complete claimed')
  })
})
