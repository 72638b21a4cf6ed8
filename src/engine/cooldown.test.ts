import { describe, expect, test } from 'vitest'
import { breakerState } from './breaker.ts'
import { type Fact, type Loop, type Spec, statusOf } from './loop.ts'
import {
  asks,
  asksAfterWork,
  at,
  cancel,
  checks,
  checksOn,
  claims,
  claimsIdly,
  cooling,
  crashes,
  failsWith,
  feedbackAfter,
  type Happening,
  idles,
  isLimited,
  loopAfter,
  lost,
  MINUTE,
  pause,
  play,
  resume,
  runsTests,
  START,
  say,
  sentenceAfter,
  setLimits,
  specOf,
  times,
  told,
  turn,
  unchecked,
  uses,
  verdicts,
  wantsPerson,
  woke,
  works,
} from './stories.test-support.ts'

const plain = cooling()
const checked = cooling({ checks: ['npm test'] })
const idleTwice: Happening[] = times(2, idles)
const stalls: Happening[] = times(3, idles)
const cooled: Happening[] = [...stalls, woke]

type StoryOf = [story: string, start: Spec | Loop, facts: Happening[], asked: string]

/** Without the turns that lead to the first cooldown. */
function playFrom(start: Spec | Loop, facts: readonly Happening[]): string {
  const asked = play(start, ...facts)
  return asked.slice(asked.indexOf('wait cooldown')).join(', ')
}

describe('an open breaker with a cooldown', () => {
  test.each<[what: string, spec: Spec, facts: Happening[], reason: string, sentence: string]>([
    ['idle turns', plain, stalls, 'no-progress', '3 iterations in a row changed nothing.'],
    [
      'the same failure',
      plain,
      times(5, failsWith('E1')),
      'same-error',
      'The same failure occurred 5 times in a row: E1.',
    ],
    [
      'tests alone',
      plain,
      times(3, runsTests),
      'test-only',
      '3 iterations in a row only ran tests and changed nothing.',
    ],
    ['crashes', plain, times(3, crashes()), 'agent-failed', 'The agent failed 3 times in a row: Segmentation fault.'],
    [
      'idle turns, checked',
      checked,
      [...stalls, checks('fail')],
      'no-progress',
      '3 iterations in a row changed nothing.',
    ],
  ])('waits and keeps the reason: %s', (_, spec, facts, reason, sentence) => {
    const early = facts.slice(0, -1)
    const last = facts.at(-1) ?? idles
    const loop = loopAfter(spec, ...early, at(7, last))
    const since = START + 7 * MINUTE
    expect(loop.next).toEqual({
      ...{ kind: 'wait', why: 'cooldown', since, until: since + 30 * MINUTE },
      stop: { reason, sentence },
    })
    expect([statusOf(loop), breakerState(loop)]).toEqual(['waiting', 'open'])
  })

  test.each<StoryOf>([
    ['no cooldown', unchecked, stalls, 'halt no-progress'],
    ['a cooldown of 0', cooling({}, { cooldownMinutes: 0 }), stalls, 'halt no-progress'],
    ['all iterations used', cooling({}, { iterations: 3 }), stalls, 'halt no-progress'],
    [
      'all money spent',
      cooling({}, { costUsd: 1 }),
      [...idleTwice, turn({ costUsd: 1, tree: 'tree 0' })],
      'halt no-progress',
    ],
    ['too little time', cooling({}, { minutes: 30 }), stalls, 'halt no-progress'],
    ['too little time at a crash', cooling({}, { minutes: 30 }), times(3, crashes()), 'halt agent-failed'],
    ['time enough', cooling({}, { minutes: 31 }), stalls, 'wait cooldown'],
    ['an iteration left', cooling({}, { iterations: 4 }), stalls, 'wait cooldown'],
    ['iterations used up', cooling({}, { iterations: 2 }), [works, works], 'halt max-iterations'],
    ['the time up', cooling({}, { minutes: 5 }), [at(6, works)], 'halt timeout'],
    ['the money spent', cooling({}, { costUsd: 1 }), [uses({ costUsd: 2 })], 'halt cost'],
    ['a check that cannot start', checked, [claims('clear'), checks('broken')], 'halt verifier-broken'],
    ['checks that pass when it has stalled', checked, [...stalls, checks('pass')], 'complete verified'],
  ])('halts at once or waits: %s', (_, start, facts, asked) => {
    expect(play(start, ...facts).at(-1)).toBe(asked)
  })

  test('says why there is no time for a retry', () => {
    expect(sentenceAfter(cooling({}, { minutes: 30 }), ...stalls)).toBe(
      '3 iterations in a row changed nothing. A retry after a cooldown of 30 minutes would exceed the time limit of 30 minutes.',
    )
  })

  test('counts against the time of the loop', () => {
    const timed = cooling({}, { minutes: 40 })
    expect(play(timed, ...stalls, at(30, woke), at(41, works)).slice(-2)).toEqual(['turn 4', 'halt timeout'])
    expect(play(timed, ...stalls, at(41, woke)).at(-1)).toBe('halt timeout')
  })
})

describe('the retry', () => {
  test.each<[what: string, spec: Spec, facts: Happening[], hint: string]>([
    ['idle turns', plain, stalls, 'Nothing in the worktree has changed recently.'],
    ['the only idle turn', cooling({}, { noProgress: 1 }), [idles], 'Nothing in the worktree has changed recently.'],
    ['the same failure', plain, times(5, failsWith('E1')), 'The same failure occurred 5 times in a row.'],
    ['tests alone', plain, times(3, runsTests), 'The last iterations only ran tests.'],
    ['crashes', plain, times(3, crashes()), 'The last attempts crashed.'],
  ])('is half-open, and its agent reads why: %s', (_, spec, facts, hint) => {
    const loop = loopAfter(spec, ...facts, woke)
    expect(breakerState(loop)).toBe('half-open')
    expect(feedbackAfter(loop).split(hint)).toHaveLength(2)
  })

  test.each<StoryOf>([
    ['that changes nothing', plain, [...cooled, idles], 'turn 4, halt no-progress'],
    ['that only runs tests', plain, [...times(3, runsTests), woke, runsTests], 'turn 4, halt test-only'],
    [
      'that does not even run tests',
      cooling({}, { noProgress: 9 }),
      [...times(3, runsTests), woke, idles],
      'turn 4, halt test-only',
    ],
    ['that crashes again', plain, [...times(3, crashes()), woke, crashes()], 'turn 1 attempt 4, halt agent-failed'],
    [
      'that hits the same failure again, though it works',
      plain,
      [...times(5, failsWith('E1')), woke, failsWith('E1')],
      'turn 6, halt same-error',
    ],
    [
      'that changes nothing after the same failure',
      plain,
      [...times(5, failsWith('E1')), woke, idles],
      'turn 6, halt same-error',
    ],
    [
      'whose checks fail as before',
      checked,
      [...stalls, checks('fail'), woke, idles, checks('fail')],
      'turn 4, check, halt no-progress',
    ],
    [
      'whose claim is refused as before',
      checked,
      [...times(3, claimsIdly('clear'), checks('fail', 3)), woke, claimsIdly('clear'), checks('fail', 3)],
      'turn 4, check, halt no-progress',
    ],
    [
      'that crashes for good instead',
      plain,
      [...cooled, ...times(3, crashes())],
      'turn 4, turn 4 attempt 2, turn 4 attempt 3, halt agent-failed',
    ],
  ])('%s ends the loop', (_, start, facts, asked) => {
    expect(playFrom(start, facts)).toBe(`wait cooldown, ${asked}`)
    expect(breakerState(loopAfter(start, ...facts))).toBe('open')
  })

  test.each<StoryOf>([
    ['works', plain, [...cooled, works], 'turn 4, turn 5'],
    ['works after crashes', plain, [...times(3, crashes()), woke, works], 'turn 1 attempt 4, turn 2'],
    ['gets to work at all after crashes', plain, [...times(3, crashes()), woke, idles], 'turn 1 attempt 4, turn 2'],
    ['works without that failure', plain, [...times(5, failsWith('E1')), woke, works], 'turn 6, turn 7'],
    ['hits another failure', plain, [...times(5, failsWith('E1')), woke, failsWith('E2')], 'turn 6, turn 7'],
    [
      'leaves fewer failures',
      checked,
      [...times(3, claimsIdly('clear'), checks('fail', 3)), woke, claimsIdly('clear'), checks('fail', 2)],
      'turn 4, check, turn 5',
    ],
    [
      'passes a stage',
      cooling({
        stages: [
          { name: 'A', check: 'a' },
          { name: 'B', check: 'b' },
        ],
      }),
      [...stalls, verdicts({ a: 'fail', b: 'fail' }), woke, claimsIdly('clear', 'A'), verdicts({ a: 'pass' })],
      'turn 4, check, turn 5',
    ],
    [
      'changes something before it crashes',
      plain,
      [...cooled, turn({ end: 'failed', tree: 'x' }), idles],
      'turn 4, turn 4 attempt 2, turn 5',
    ],
  ])('that %s closes the breaker', (_, start, facts, asked) => {
    const loop = loopAfter(start, ...facts)
    expect(playFrom(start, facts)).toBe(`wait cooldown, ${asked}`)
    expect(breakerState(loop)).toBe('closed')
    expect(loop.tally).not.toHaveProperty('retry')
  })

  test.each<StoryOf>([
    ['a limit', plain, [...cooled, isLimited, woke, idles], 'turn 4, wait limit, turn 4 attempt 2, halt no-progress'],
    ['a crash', plain, [...cooled, crashes(), idles], 'turn 4, turn 4 attempt 2, halt no-progress'],
    ['a driver that dies', plain, [...cooled, lost, works], 'turn 4, turn 4 attempt 2, turn 5'],
    ['a pause', plain, [...cooled, pause, resume, idles], 'turn 4, wait paused, turn 4, halt no-progress'],
    ['a question', plain, [...cooled, asks(), idles], 'turn 4, turn 5, halt no-progress'],
    ['a question after work', plain, [...cooled, asksAfterWork(), ...idleTwice], 'turn 4, turn 5, turn 6, turn 7'],
    ['two questions', plain, [...cooled, asks(), asks()], 'turn 4, turn 5, wait person'],
    [
      'an answer, which resets the counts',
      plain,
      [...cooled, wantsPerson(), say('Yes.'), ...idleTwice],
      'turn 4, wait person, turn 5, turn 6, turn 7',
    ],
  ])('is not decided by %s', (_, start, facts, asked) => {
    expect(playFrom(start, facts)).toBe(`wait cooldown, ${asked}`)
  })

  test.each<[facts: Happening[], sentence: string]>([
    [[...cooled, idles], '3 iterations in a row changed nothing.'],
    [[...times(3, crashes()), woke, crashes()], 'The agent failed 3 times in a row: Segmentation fault.'],
  ])('says that it did not help', (facts, sentence) => {
    expect(sentenceAfter(plain, ...facts)).toBe(`${sentence} A retry after a cooldown did not help.`)
  })

  test('gives its agent the same prompt at every attempt', () => {
    const loop = loopAfter(plain, ...cooled)
    expect(feedbackAfter(loop, crashes())).toBe(feedbackAfter(loop))
  })

  test('can complete the loop', () => {
    const facts = [...stalls, checks('fail'), woke, claims('clear'), checksOn('pass')]
    expect(playFrom(checked, facts)).toBe('wait cooldown, turn 4, check, complete verified')
  })

  test('restores the files if it did not help', () => {
    const restoring = cooling({ onHalt: 'restore' })
    expect(play(restoring, works, ...cooled, idles).at(-1)).toBe('restore 0 no-progress')
  })

  test('comes again with the next cooldown after progress', () => {
    const facts = [...cooled, works, ...stalls, woke, works]
    expect(playFrom(plain, facts)).toBe('wait cooldown, turn 4, turn 5, turn 6, turn 7, wait cooldown, turn 8, turn 9')
    expect(play(plain, ...cooled, works, ...stalls, woke, idles).at(-1)).toBe('halt no-progress')
  })

  test('is not granted endlessly to a loop that only crashes and idles', () => {
    const stuck = cooling({}, { iterations: 0 })
    const facts = times(4, ...times(3, crashes()), woke, idles)
    expect(play(stuck, ...facts, woke, idles).at(-1)).toBe('halt no-progress')
  })
})

describe('an order during a cooldown', () => {
  const waits = loopAfter(plain, ...stalls)
  const done: Fact = told({ kind: 'done' })

  test.each<[order: string, facts: Happening[], asked: string]>([
    ['resume closes the breaker and continues at once', [resume, ...idleTwice], 'turn 4, turn 5, turn 6'],
    ['the breaker that was reset opens again', [resume, ...stalls], 'turn 4, turn 5, turn 6, wait cooldown'],
    ['cancel halts', [cancel], 'halt cancelled'],
    ['pause waits, resume keeps waiting', [pause, resume], 'wait paused, wait cooldown'],
    ['pause waits, the second resume continues', [pause, resume, resume], 'wait paused, wait cooldown, turn 4'],
    ['words do not end it', [say('Hurry.')], 'wait cooldown'],
    ['done is done', [done], 'complete claimed'],
    ['time that is up halts', [told({ kind: 'out-of-time' })], 'halt timeout'],
    ['time in which no process ran it changes nothing', [told({ kind: 'rested', since: START })], 'wait cooldown'],
    ['another prompt changes nothing', [told({ kind: 'edit', prompt: 'Something else.' })], 'wait cooldown'],
    ['an unrequested turn has no effect', [works, lost, checks('pass')], 'wait cooldown, wait cooldown, wait cooldown'],
    ['more idle turns allowed continue at once', [setLimits({ noProgress: 4 }), idles], 'turn 4, wait cooldown'],
    ['another limit changes nothing', [setLimits({ sameError: 9 })], 'wait cooldown'],
    ['removing the cooldown halts', [setLimits({ cooldownMinutes: 0 })], 'halt no-progress'],
    ['no time left for it halts', [setLimits({ minutes: 20 })], 'halt no-progress'],
    [
      'no iteration left halts when it ends',
      [setLimits({ iterations: 3 }), woke],
      'wait cooldown, halt max-iterations',
    ],
    [
      'limits given during a pause count after it',
      [pause, setLimits({ noProgress: 4 }), resume],
      'wait paused, wait paused, turn 4',
    ],
  ])('%s', (_, facts, asked) => {
    expect(play(waits, ...facts).join(', ')).toBe(asked)
  })

  test('messages reach the retry, once', () => {
    const loop = loopAfter(waits, say('Use Rust.'), woke)
    expect(feedbackAfter(loop).split('A person says: Use Rust.')).toHaveLength(2)
    expect(loop.next).toMatchObject({ heard: ['Use Rust.'] })
  })

  test('a pause does not move its end', () => {
    expect(loopAfter(waits, at(5, pause), at(9, resume)).next).toEqual(waits.next)
  })

  test('a new cooldown moves its end', () => {
    expect(loopAfter(waits, at(5, setLimits({ cooldownMinutes: 10 }))).next).toEqual({
      ...waits.next,
      until: START + 10 * MINUTE,
    })
  })

  test('a reset clears all counts', () => {
    const crashed = loopAfter(plain, ...times(3, crashes()), resume)
    expect(breakerState(crashed)).toBe('closed')
    expect(crashed.tally).toMatchObject({ crashes: 0, repeats: 0, testOnly: 0, stalled: 0 })
  })

  test('a reset does not lift a limit', () => {
    const facts = [setLimits({ iterations: 3 }), resume]
    expect(play(waits, ...facts).at(-1)).toBe('halt max-iterations')
  })
})

test('with a higher breaker limit, a running retry is a turn like any other', () => {
  expect(play(plain, ...cooled, setLimits({ noProgress: 9 }), idles).at(-1)).toBe('turn 5')
  expect(play(plain, ...cooled, setLimits({ iterations: 99 }), idles).at(-1)).toBe('halt no-progress')
})

test('a loop without a cooldown stores nothing about it', () => {
  expect(loopAfter(specOf(), ...times(3, crashes())).tally).not.toHaveProperty('retry')
})
