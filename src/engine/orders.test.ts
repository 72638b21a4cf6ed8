import { describe, expect, test } from 'vitest'
import { NOBODY_AVAILABLE } from './feedback.ts'
import { type Fact, type Spec, statusOf } from './loop.ts'
import {
  asks,
  at,
  cancel,
  checkedByTests,
  checks,
  claims,
  crashes,
  everyNext,
  feedbackAfter,
  type Happening,
  halfAnHour,
  idles,
  isDenied,
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
  unchecked,
  uses,
  wantsPerson,
  woke,
  works,
} from './stories.test-support.ts'

const places = Object.entries(everyNext)
const done: Fact = { kind: 'told', at: START, by: 'the caller', order: { kind: 'done' } }
const outOfTime: Fact = { kind: 'told', at: START, by: 'the caller', order: { kind: 'out-of-time' } }
const restored: Fact = { kind: 'restored', at: START }
const restoring = specOf({ onHalt: 'restore' })

test.each(places)('the story of %s leads there', (next, facts) => {
  expect(play(checkedByTests, ...facts).at(-1) ?? 'turn 1').toBe(next)
})

describe('rule 1: a person comes first', () => {
  test.each(places)('cancel in %s halts', (_, facts) => {
    expect(play(checkedByTests, ...facts, cancel).at(-1)).toBe('halt cancelled')
    expect(sentenceAfter(checkedByTests, ...facts, cancel)).toBe('Cancelled by Ada.')
  })

  test.each(places)('pause in %s waits, and resume continues where it was', (next, facts) => {
    const asked = play(checkedByTests, ...facts, pause, resume)
    expect(asked.slice(-2)).toEqual(['wait paused', next === 'wait paused' ? 'turn 1' : next])
  })

  test.each(places)('a second pause in %s changes nothing', (_, facts) => {
    const paused = loopAfter(checkedByTests, ...facts, pause)
    expect(loopAfter(paused, at(5, pause))).toEqual(paused)
  })

  test.each(places)('a pause in %s costs no iteration and no attempt', (_, facts) => {
    const before = loopAfter(checkedByTests, ...facts)
    const { tally } = loopAfter(before, pause, resume)
    expect([tally.iteration, tally.attempt]).toEqual([before.tally.iteration, before.tally.attempt])
    expect(tally).not.toHaveProperty('held')
  })

  test.each<[story: string, facts: Happening[], asked: string]>([
    ['resume while a turn runs changes nothing', [works, resume], 'turn 2, turn 2'],
    ['resume while a check runs changes nothing', [claims('clear'), resume], 'check, check'],
    ['resume in the middle of a wait tries at once', [isLimited, resume], 'wait limit, turn 1 attempt 2'],
    ['resume continues without an answer', [wantsPerson(), resume], 'wait person, turn 2'],
    [
      'a paused turn has no effect',
      [pause, claims('clear'), woke, resume],
      'wait paused, wait paused, wait paused, turn 1',
    ],
    [
      'a paused check runs again',
      [claims('clear'), pause, resume, checks('pass')],
      'check, wait paused, check, complete verified',
    ],
    ['a pause can be cancelled', [pause, cancel], 'wait paused, halt cancelled'],
    [
      'a paused question is still a question',
      [wantsPerson(), pause, resume, say('Yes.')],
      'wait person, wait paused, wait person, turn 2',
    ],
    [
      'a question answered during a pause is answered',
      [wantsPerson(), pause, say('Yes.'), resume],
      'wait person, wait paused, wait paused, turn 2',
    ],
  ])('%s', (_, facts, asked) => {
    expect(play(checkedByTests, ...facts).join(', ')).toBe(asked)
  })

  test('a paused wait keeps its time, a paused question its words', () => {
    const limited = loopAfter(unchecked, isLimitedUntil(20), at(5, pause), at(6, resume))
    expect(limited.next).toEqual({ kind: 'wait', why: 'limit', until: START + 20 * MINUTE })
    const asking = loopAfter(unchecked, wantsPerson('May I?'), pause, resume)
    expect(asking.next).toEqual({ kind: 'wait', why: 'person', question: 'May I?' })
  })
})

describe("a person's message", () => {
  test.each<[story: string, facts: Happening[]]>([
    ['before the first turn', [say('Use Rust.')]],
    ['between two turns', [works, say('Use Rust.')]],
    ['while a check runs', [claims('clear'), say('Use Rust.'), checks('fail')]],
    ['during a wait', [isLimited, say('Use Rust.'), woke]],
    ['during an overload', [isOverloaded, say('Use Rust.'), woke]],
    ['in answer to a question', [wantsPerson(), say('Use Rust.')]],
    ['in answer to a question, during a pause', [wantsPerson(), pause, say('Use Rust.'), resume]],
    ['during a pause', [pause, say('Use Rust.'), resume]],
    ['during a pause of a check', [claims('clear'), pause, say('Use Rust.'), resume, checks('fail')]],
    ['during a pause of a wait', [isLimited, pause, say('Use Rust.'), resume, woke]],
    ['before a crash', [say('Use Rust.'), crashes()]],
    ['before a limit', [say('Use Rust.'), isLimited, woke]],
    ['before the driver dies', [say('Use Rust.'), lost]],
  ])('reaches the next turn once: %s', (_, facts) => {
    const loop = loopAfter(checkedByTests, ...facts)
    expect(feedbackAfter(loop).split('A person says: Use Rust.')).toHaveLength(2)
    expect(feedbackAfter(loop, works)).not.toContain('Use Rust.')
  })

  test('comes in the order it was said', () => {
    const told = feedbackAfter(unchecked, isLimited, say('One.'), say('Two.'), woke)
    expect(told).toBe('A person says: One.\nA person says: Two.')
  })

  test('replaces the advice to continue alone', () => {
    const told = feedbackAfter(unchecked, asks(), asks(), say('Postgres.'))
    expect(told).toContain('Postgres.')
    expect(told).not.toContain(NOBODY_AVAILABLE)
  })

  test.each<[story: string, spec: Spec, facts: Happening[], asked: string]>([
    ['does not end a wait for a limit', unchecked, [isLimited, say('Hurry.')], 'wait limit'],
    ['does not end a pause', unchecked, [pause, say('Hurry.')], 'wait paused'],
    ['resets the questions', unchecked, [asks(), asks(), say('Postgres.'), asks()], 'turn 4'],
    ['resets the denials', unchecked, [isDenied(), isDenied(), say('Go on.'), isDenied()], 'turn 4'],
    ['resets the idle turns', unchecked, [idles, idles, asks(), asks(), say('Yes.'), idles, idles], 'turn 7'],
    ['do not lift a limit', oneTurn, [wantsPerson(), say('Yes.')], 'halt max-iterations'],
    [
      'does not lift a limit during a pause',
      oneTurn,
      [wantsPerson(), pause, say('Yes.'), resume],
      'halt max-iterations',
    ],
    ['works with a new limit', oneTurn, [wantsPerson(), setLimits({ iterations: 2 }), say('Yes.')], 'turn 2'],
  ])('%s', (_, spec, facts, asked) => {
    expect(play(spec, ...facts).at(-1)).toBe(asked)
  })
})

describe('new limits', () => {
  test.each(places)('in %s are adopted and end nothing', (_, facts) => {
    const before = loopAfter(checkedByTests, ...facts)
    const loop = loopAfter(before, setLimits({ iterations: 99 }))
    expect(loop.spec.limits).toEqual({ iterations: 99, noProgress: 3, sameError: 5 })
    expect(statusOf(loop)).toBe(statusOf(before))
    expect(loop.tally).toEqual(before.tally)
    expect(loop.next).toEqual(before.next)
  })

  test.each<[story: string, spec: Spec, facts: Happening[], asked: string]>([
    ['more iterations continue', oneTurn, [setLimits({ iterations: 2 }), works], 'turn 2'],
    ['fewer iterations let the turn finish', threeTurns, [works, setLimits({ iterations: 1 })], 'turn 2'],
    ['fewer iterations stop after it', threeTurns, [works, setLimits({ iterations: 1 }), works], 'halt max-iterations'],
    ['time that is up stops at once', unchecked, [works, at(11, setLimits({ minutes: 5 }))], 'halt timeout'],
    ['money that is spent stops at once', unchecked, [uses({ costUsd: 3 }), setLimits({ costUsd: 2 })], 'halt cost'],
    ['a wait past the deadline halts', unchecked, [isLimitedUntil(60), setLimits({ minutes: 30 })], 'halt timeout'],
    ['a wait before the deadline continues', unchecked, [isLimitedUntil(20), setLimits({ minutes: 30 })], 'wait limit'],
    [
      'a paused wait past the deadline halts when it is resumed',
      unchecked,
      [isLimitedUntil(60), pause, setLimits({ minutes: 30 }), resume],
      'halt timeout',
    ],
    ['the breaker can be set tighter', unchecked, [idles, setLimits({ noProgress: 2 }), idles], 'halt no-progress'],
  ])('%s', (_, spec, facts, asked) => {
    expect(play(spec, ...facts).at(-1)).toBe(asked)
  })

  test('move the deadline of the turn', () => {
    expect(loopAfter(unchecked, setLimits({ minutes: 20 })).next).toMatchObject({ deadline: START + 20 * MINUTE })
  })
})

describe('the driver says that it is done', () => {
  const staged = specOf({ stages: [{ name: 'TESTS', check: 'npm test' }, { name: 'DOCS' }] })

  test.each(places)('in %s, checks decide', (next, facts) => {
    const story = next === 'check' ? facts : [...facts, done]
    expect(play(checkedByTests, ...story).at(-1)).toBe('check')
    expect(play(checkedByTests, ...story, checks('pass')).at(-1)).toBe('complete verified')
    expect(play(checkedByTests, ...story, checks('fail')).at(-1)).toMatch(/^turn /)
  })

  test.each(places.filter(([next]) => next !== 'check'))('in %s, it completes if nothing is checked', (_, facts) => {
    expect(play(unchecked, ...facts, done).at(-1)).toBe('complete claimed')
  })

  test.each(places)('in %s no turn is counted', (_, facts) => {
    const before = loopAfter(unchecked, ...facts)
    const { tally } = loopAfter(before, done)
    expect([tally.iteration, tally.attempt]).toEqual([before.tally.iteration, before.tally.attempt])
  })

  test.each<[story: string, spec: Spec, facts: Happening[], asked: string]>([
    ['a running check continues', checkedByTests, [claims('clear'), done], 'check'],
    ['a paused check runs', checkedByTests, [claims('clear'), pause, done], 'check'],
    ['a question no longer needs an answer', checkedByTests, [wantsPerson(), done, checks('fail')], 'turn 2'],
    ['a paused loop continues', checkedByTests, [works, pause, done, checks('fail')], 'turn 2'],
    [
      'it is refused on the last turn',
      specOf({ checks: ['npm test'] }, { iterations: 1 }),
      [done, checks('fail')],
      'turn 1',
    ],
    ['an open stage is still open', staged, [done, checks('pass')], 'turn 1'],
    [
      'the last stage was the only thing open',
      staged,
      [claims('clear', 'TESTS'), checks('pass'), claims('clear', 'DOCS'), done, checks('pass')],
      'complete verified',
    ],
    ['if the check cannot start, it is not done', checkedByTests, [done, checks('broken')], 'halt verifier-broken'],
    ['an ended loop stays ended', unchecked, [cancel, done], 'halt cancelled'],
    ['a loop that is completed stays completed', unchecked, [done, cancel], 'complete claimed'],
    ['while files are restored, it is too late', restoring, [works, cancel, done], 'restore 0 cancelled'],
  ])('%s', (_, spec, facts, asked) => {
    expect(play(spec, ...facts).at(-1)).toBe(asked)
  })

  test('a claim that a check refutes is a false one', () => {
    expect(loopAfter(checkedByTests, works, done, checks('fail')).tally.falseClaims).toBe(1)
  })

  test('the time it was paused does not count', () => {
    const { tally } = loopAfter(halfAnHour, at(5, wantsPerson()), at(65, done))
    expect(tally.restedMs).toBe(60 * MINUTE)
    expect(tally).not.toHaveProperty('restingSince')
  })

  test('nothing is left of a pause or a question', () => {
    const { tally } = loopAfter(checkedByTests, wantsPerson(), pause, done)
    expect(tally).not.toHaveProperty('held')
    expect(tally).not.toHaveProperty('ask')
  })
})

describe('the driver says that time is up', () => {
  test.each(places)('in %s it halts', (_, facts) => {
    const timed = specOf({ checks: ['npm test'] }, { minutes: 30 })
    expect(play(timed, ...facts, outOfTime).at(-1)).toBe('halt timeout')
    expect(sentenceAfter(timed, ...facts, outOfTime)).toBe('Reached the time limit of 30 minutes.')
  })

  test('says so even if no time was set', () => {
    expect(sentenceAfter(unchecked, outOfTime)).toBe('Reached the time limit.')
  })

  test.each<[story: string, spec: Spec, facts: Happening[], asked: string]>([
    ['changes are undone first', restoring, [works, outOfTime], 'restore 0 timeout'],
    ['then it halts', restoring, [works, outOfTime, restored], 'halt timeout'],
    ['if nothing changed, it halts at once', restoring, [idles, outOfTime], 'halt timeout'],
    [
      'the best state is kept',
      specOf({ checks: ['npm test'], until: true, onHalt: 'best' }),
      [works, checks('fail', 2), works, checks('fail', 5), outOfTime],
      'restore 1 timeout',
    ],
    ['while files are restored, nothing changes', restoring, [works, cancel, outOfTime], 'restore 0 cancelled'],
    ['an ended loop stays ended', unchecked, [done, outOfTime], 'complete claimed'],
    ['nothing can be done after it', unchecked, [outOfTime, done], 'halt timeout'],
  ])('%s', (_, spec, facts, asked) => {
    expect(play(spec, ...facts).at(-1)).toBe(asked)
  })
})

describe('a rewritten request', () => {
  const edit = (change: { prompt?: string; promise?: string }): Fact => ({
    kind: 'told',
    at: START,
    by: 'Ada',
    order: { kind: 'edit', ...change },
  })

  test.each(places)('in %s is adopted, and moves nothing', (_, facts) => {
    const before = loopAfter(checkedByTests, ...facts)
    const loop = loopAfter(before, edit({ prompt: 'Something else.', promise: 'SHIPPED' }))
    expect(loop).toEqual({ ...before, spec: { ...before.spec, prompt: 'Something else.', promise: 'SHIPPED' } })
  })

  test('one part leaves the other as it was', () => {
    expect(loopAfter(unchecked, edit({ prompt: 'x' })).spec).toEqual({ ...unchecked, prompt: 'x' })
    expect(loopAfter(unchecked, edit({ promise: '' })).spec).toEqual({ ...unchecked, promise: '' })
    expect(loopAfter(unchecked, edit({})).spec).toEqual(unchecked)
  })

  test('does not revive an ended loop', () => {
    const ended = loopAfter(unchecked, cancel)
    expect(loopAfter(ended, edit({ prompt: 'x' }))).toEqual(ended)
  })
})
