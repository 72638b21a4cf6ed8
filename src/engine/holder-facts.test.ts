/** Facts that only the holder of the lease writes: another spec, another place, a history from outside. */
import { describe, expect, test } from 'vitest'
import type { Fact, Loop, Spec } from './loop.ts'
import { step } from './step.ts'
import {
  at,
  checkedByTests,
  checks,
  claims,
  claimsIdly,
  crashes,
  everyNext,
  halfAnHour,
  idles,
  isLimited,
  loopAfter,
  MINUTE,
  play,
  START,
  say,
  specOf,
  startedWith,
  told,
  turn,
  unchecked,
  uses,
  woke,
  works,
} from './stories.test-support.ts'

function asked(spec: Spec, minute = 0): Fact {
  return { kind: 'asked', at: START + minute * MINUTE, spec }
}

describe('a loop that resumes with another spec', () => {
  test('gets the new limits on top of what it has used', () => {
    const spec = specOf({}, { costUsd: 1, tokens: 100, minutes: 10 })
    const { limits } = loopAfter(spec, uses({ costUsd: 0.75, tokens: 60 }), asked(spec, 20)).spec
    expect(limits).toMatchObject({ costUsd: 1.75, tokens: 160, minutes: 30, iterations: 10 })
  })

  test('adopts the number of iterations, agent, prompt and checks', () => {
    const changed = specOf({ prompt: 'Other words.', checks: ['make'] }, { iterations: 3 })
    expect(loopAfter(checkedByTests, works, asked(changed)).spec).toEqual(changed)
  })

  test.each([
    [1, 'halt max-iterations'],
    [2, 'turn 2'],
    [0, 'turn 2'],
  ])('with %i iterations after one asks for: %s', (iterations, next) => {
    expect(play(checkedByTests, works, asked(specOf({}, { iterations }))).at(-1)).toBe(next)
  })

  test('finishes the running checks', () => {
    const loop = loopAfter(checkedByTests, claims('clear'), asked(specOf({ checks: ['make'] })))
    expect(loop.spec.checks).toEqual(['npm test'])
    expect(play(loop, checks('pass'))).toEqual(['complete verified'])
  })

  test.each(Object.entries(everyNext))('at %s continues with the same', (name, facts) => {
    expect(play(loopAfter(checkedByTests, ...facts), asked(checkedByTests))).toEqual([name])
  })

  test('stays the same once it has ended', () => {
    const over = loopAfter(unchecked, works, claims('clear'))
    expect(step(over, asked(checkedByTests))).toBe(over)
  })
})

test.each<[string, Loop]>([
  ['that continues', loopAfter(unchecked, works)],
  ['that has ended', loopAfter(unchecked, works, claims('clear'))],
])('a loop %s follows its folder', (_, loop) => {
  const to = { dir: '/new', owner: { kind: 'vault' as const, path: '/new' }, faces: ['/new/State'] }
  const moved = step(loop, { kind: 'moved', at: START, to })
  expect(moved).toEqual({ ...loop, spec: { ...loop.spec, work: { ...loop.spec.work, ...to } } })
})

test('a loop that continues on another machine has its worktree there, and starts a new session', () => {
  const worktree = { from: '/b/repos/shop', path: '/b/worktrees/L1', branch: 'ralph/T1', commit: 'c0', base: 'main' }
  const to = { dir: worktree.path, gitDir: '/b/repos/shop/.git/worktrees/L1', worktree }
  const before = loopAfter(unchecked, works)
  const loop = { ...before, tally: { ...before.tally, session: { id: 's1', costUsd: 1 } } }
  const moved = step(loop, { kind: 'moved', at: START, to })
  expect(moved).toEqual({ ...before, spec: { ...before.spec, work: { ...before.spec.work, ...to } } })
  expect('session' in moved.tally).toBe(false)
})

test('a loop that started elsewhere is what it was there, whatever this record says', () => {
  const { id: _, ...there } = loopAfter(checkedByTests, works, works)
  const fact: Fact = { kind: 'adopted', at: START, loop: there }
  expect(step(loopAfter(unchecked, works, claims('clear')), fact)).toEqual({ id: 'L1', ...there })
})

describe('a look at the clock', () => {
  test.each<[string, Parameters<typeof play>, string]>([
    ['in time changes nothing', [halfAnHour, works, at(29, woke)], 'turn 2'],
    ['ends a loop whose time is up', [halfAnHour, works, at(30, woke)], 'halt timeout'],
    ['ends no loop without a time limit', [unchecked, works, at(9_999, woke)], 'turn 2'],
    ['ends no check', [specOf({ checks: ['make'] }, { minutes: 30 }), claims('clear'), at(31, woke)], 'check'],
    ['lets a rate-limited agent continue', [unchecked, isLimited, at(1, woke)], 'turn 1 attempt 2'],
  ])('%s', (_, [spec, ...facts], end) => {
    expect(play(spec, ...facts).at(-1)).toBe(end)
  })
})

describe('a stage whose checks passed before any work', () => {
  const task = startedWith(specOf({ checks: ['make'], stages: [{ name: 'T1' }] }), 'pass')

  test.each<[string, Parameters<typeof play>, string]>([
    ['is not believed the first time if nothing changed', [task, claimsIdly('clear', 'T1'), checks('pass')], 'turn 2'],
    [
      'is believed the second time',
      [task, claimsIdly('clear', 'T1'), checks('pass'), claimsIdly('clear', 'T1'), checks('pass')],
      'complete kept',
    ],
    ['is believed at once if something changed', [task, claims('clear', 'T1'), checks('pass')], 'complete kept'],
  ])('%s', (_, [spec, ...facts], end) => {
    expect(play(spec, ...facts).at(-1)).toBe(end)
  })
})

test('a claim counts for nothing if the work was undone', () => {
  const refused = turn({ claim: { kind: 'clear' }, refused: true, tree: 'tree 7' })
  expect(play(checkedByTests, refused)).toEqual(['turn 2'])
})

test('what people said is also given in their own words, and only to the turn that receives it', () => {
  const loop = loopAfter(unchecked, works, say('Use tabs.'))
  expect(loop.next).toMatchObject({ feedback: ['A person says: Use tabs.'], heard: ['Use tabs.'] })
  expect(loopAfter(loop, idles).next).not.toHaveProperty('heard')
})

test('the turn that receives comments names them, as does each attempt at it, and no other', () => {
  const comments = (...ids: number[]) => told({ kind: 'say', words: 'See a.ts:3.', comments: ids })
  const loop = loopAfter(unchecked, works, comments(4, 5), say('Use tabs.'), comments(7))
  expect(loop.next).toMatchObject({ kind: 'turn', comments: [4, 5, 7] })
  expect(loopAfter(loop, crashes()).next).toMatchObject({ kind: 'turn', attempt: 2, comments: [4, 5, 7] })
  expect(loopAfter(loop, works).next).not.toHaveProperty('comments')
  expect(loopAfter(loop, works).tally).not.toHaveProperty('comments')
})

describe('a rejection', () => {
  test('is marked as such, even if files are restored first', () => {
    const reject: Fact = { kind: 'told', at: START, by: 'you', order: { kind: 'cancel', rejected: true } }
    expect(loopAfter(unchecked, works, reject).next).toMatchObject({ kind: 'halt', rejected: true })
    const restoring = specOf({ onHalt: 'restore' })
    expect(loopAfter(restoring, works, reject, { kind: 'restored', at: START }).next).toMatchObject({
      kind: 'halt',
      reason: 'cancelled',
      rejected: true,
    })
  })

  test.each([
    [{}, 'You rejected it.'],
    [{ why: 'too dear' }, 'You rejected it: too dear.'],
  ])('has a sentence of its own', (rejected, sentence) => {
    const reject: Fact = { kind: 'told', at: START, by: 'you', order: { kind: 'cancel', rejected } }
    expect(loopAfter(unchecked, works, reject).next).toMatchObject({ kind: 'halt', rejected: true, sentence })
  })

  test('of an older version keeps its sentence', () => {
    const by = 'you, who rejected it: too dear'
    const reject: Fact = { kind: 'told', at: START, by, order: { kind: 'cancel', rejected: true } }
    expect(loopAfter(unchecked, works, reject).next).toMatchObject({ sentence: `Cancelled by ${by}.` })
  })

  test('is more than a cancel', () => {
    const cancel: Fact = { kind: 'told', at: START, by: 'you, who rejected it', order: { kind: 'cancel' } }
    expect(loopAfter(unchecked, works, cancel).next).not.toHaveProperty('rejected')
  })
})

test('what an owner itself asks for is marked with its own word', () => {
  const asks = turn({ ask: { kind: 'person', words: 'a.md waits.', about: 'approval' } })
  expect(loopAfter(unchecked, asks).next).toEqual({
    kind: 'wait',
    why: 'person',
    question: 'a.md waits.',
    about: 'approval',
  })
})
