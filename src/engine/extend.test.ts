import { describe, expect, test } from 'vitest'
import type { Fact, Limits, Loop } from './loop.ts'
import {
  at,
  cancel,
  checkedByTests,
  checks,
  claims,
  failsWith,
  feedbackAfter,
  type Happening,
  halfAnHour,
  idles,
  loopAfter,
  MINUTE,
  nameOf,
  oneTurn,
  pause,
  play,
  START,
  sentenceAfter,
  specOf,
  threeTurns,
  times,
  uses,
  works,
} from './stories.test-support.ts'

/** A person resumes it, this many minutes after the start. It ended at `since`. */
function extend(limits: Partial<Limits>, minute = 0, since = minute): Fact {
  const order = { kind: 'extend', limits, since: START + since * MINUTE } as const
  return { kind: 'told', at: START + minute * MINUTE, by: 'you', order }
}

describe('a loop that halted on a limit', () => {
  test.each<[story: string, loop: Loop, limits: Partial<Limits>, next: string]>([
    ['iterations', loopAfter(threeTurns, works, works, works), { iterations: 5 }, 'turn 4'],
    ['no limit of iterations', loopAfter(threeTurns, works, works, works), { iterations: 0 }, 'turn 4'],
    ['time', loopAfter(halfAnHour, works, at(31, works)), { minutes: 60 }, 'turn 3'],
    ['tokens', loopAfter(specOf({}, { tokens: 10 }), uses({ tokens: 11 })), { tokens: 20 }, 'turn 2'],
    ['cost', loopAfter(specOf({}, { costUsd: 1 }), uses({ costUsd: 2 })), { costUsd: 3 }, 'turn 2'],
  ])('continues with more: %s', (_, loop, limits, next) => {
    expect(loop.next.kind).toBe('halt')
    expect(nameOf(loopAfter(loop, extend(limits, 31)).next)).toBe(next)
  })

  test('uses the new limit up, and halts again', () => {
    expect(play(threeTurns, works, works, works, extend({ iterations: 5 }), works, works).slice(2)).toEqual([
      'halt max-iterations',
      'turn 4',
      'turn 5',
      'halt max-iterations',
    ])
  })

  test('the next iteration reads the feedback that was due', () => {
    const one = specOf({ checks: ['npm test'] }, { iterations: 1 })
    const story = [claims('clear'), checks('fail', 1, 'not ok 1')]
    expect(play(one, ...story)).toEqual(['check', 'halt max-iterations'])
    expect(feedbackAfter(one, ...story, extend({ iterations: 2 }))).toContain('not ok 1')
    expect(play(one, ...story, extend({ iterations: 2 }), claims('clear'), checks('pass')).at(-1)).toBe(
      'complete verified',
    )
  })

  test('the time after its end does not count', () => {
    const halted = loopAfter(specOf({}, { iterations: 1, minutes: 30 }), at(10, works))
    expect(nameOf(loopAfter(halted, extend({ iterations: 5 }, 600, 10), at(615, works)).next)).toBe('turn 3')
    expect(sentenceAfter(halted, extend({ iterations: 5 }, 600, 10), at(625, works))).toContain('time limit')
  })

  test('with too little room it stays halted', () => {
    const halted = loopAfter(threeTurns, works, works, works)
    for (const limits of [{ iterations: 3 }, { minutes: 60 }, {}])
      expect(loopAfter(halted, extend(limits))).toBe(halted)
  })

  test('an adaptive limit becomes the number that is named', () => {
    const adaptive = specOf({ checks: ['npm test'] }, { iterations: 2, ceiling: 3 })
    const falling = [1, 2, 3].flatMap((n): Happening[] => [claims('clear'), checks('fail', 9 - n)])
    const halted = loopAfter(adaptive, ...falling)
    expect([halted.next.kind, halted.tally.extra]).toEqual(['halt', 1])
    const { spec, tally, next } = loopAfter(halted, extend({ iterations: 4 }))
    expect([spec.limits.iterations + tally.extra, spec.limits.ceiling, nameOf(next)]).toEqual([4, undefined, 'turn 4'])
  })

  test('restored files are mentioned', () => {
    const restoring = specOf({ onHalt: 'restore' }, { iterations: 1 })
    const halted = loopAfter(restoring, works, { kind: 'restored', at: START })
    expect(halted.next.kind).toBe('halt')
    const taken = loopAfter(halted, extend({ iterations: 2 }))
    expect(taken.next).toMatchObject({
      kind: 'turn',
      feedback: ['The files were restored to their state before the loop began.'],
    })
    // What the user did in the meantime is not the agent's work.
    expect(taken.tally.tree).toBeUndefined()
  })
})

test.each<[story: string, loop: Loop]>([
  ['cancelled', loopAfter(threeTurns, works, cancel)],
  ['complete', loopAfter(oneTurn, claims('clear'))],
  ['stuck', loopAfter(specOf(), ...times(3, idles))],
  ['at the same error', loopAfter(specOf(), ...times(5, failsWith('E1')))],
])('a loop that is %s stays ended', (_, loop) => {
  expect(['halt', 'complete']).toContain(loop.next.kind)
  expect(loopAfter(loop, extend({ iterations: 50 }))).toBe(loop)
})

test('in an open loop only the limits change', () => {
  expect(loopAfter(checkedByTests, works, extend({ iterations: 50 })).spec.limits.iterations).toBe(50)
  const paused = loopAfter(threeTurns, works, pause, extend({ iterations: 50 }))
  expect([paused.spec.limits.iterations, nameOf(paused.next)]).toEqual([50, 'wait paused'])
})
