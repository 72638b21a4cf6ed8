import { describe, expect, test } from 'vitest'
import { breakerState, doubt, oneLine } from './breaker.ts'
import type { HaltReason, Loop, Spec, Turn } from './loop.ts'
import {
  at,
  blind,
  checkedByTests,
  checks,
  claims,
  claimsIdly,
  crashes,
  endless,
  failsWith,
  feedbackAfter,
  type Happening,
  halfAnHour,
  idles,
  isLimited,
  loopAfter,
  lost,
  play,
  runsTests,
  sentenceAfter,
  specOf,
  threeTurns,
  times,
  turn,
  unchecked,
  verdicts,
  wantsPerson,
  woke,
  works,
} from './stories.test-support.ts'

const checkedHalfHour = specOf({ checks: ['npm test'] }, { minutes: 30 })
const twoChecks = specOf({ checks: ['a', 'b'] })

type Story = [story: string, facts: Happening[], asked: string]
type StoryOf = [story: string, start: Spec | Loop, facts: Happening[], asked: string]

describe('rule 6: the breaker opens', () => {
  test.each<Story>([
    ['three crashes in a row', times(3, crashes()), 'turn 1 attempt 2, turn 1 attempt 3, halt agent-failed'],
    [
      'three different crashes in a row',
      [crashes('a'), crashes('b'), crashes('c')],
      'turn 1 attempt 2, turn 1 attempt 3, halt agent-failed',
    ],
    [
      'a turn that works separates crashes',
      [crashes(), crashes(), works, crashes(), crashes()],
      'turn 1 attempt 2, turn 1 attempt 3, turn 2, turn 2 attempt 2, turn 2 attempt 3',
    ],
    [
      'a limit does not separate crashes',
      [crashes(), isLimited, woke, crashes(), crashes()],
      'turn 1 attempt 2, wait limit, turn 1 attempt 3, turn 1 attempt 4, halt agent-failed',
    ],
    ['the same failure five times', times(5, failsWith('E1')), 'turn 2, turn 3, turn 4, turn 5, halt same-error'],
    [
      'a turn that works separates equal failures',
      [...times(4, failsWith('E1')), works, ...times(4, failsWith('E1'))],
      'turn 2, turn 3, turn 4, turn 5, turn 6, turn 7, turn 8, turn 9, turn 10',
    ],
    [
      'another failure restarts the count',
      [...times(4, failsWith('E1')), failsWith('E2')],
      'turn 2, turn 3, turn 4, turn 5, turn 6',
    ],
    ['three turns that only run tests', times(3, runsTests), 'turn 2, turn 3, halt test-only'],
    [
      'a change separates test-only turns',
      [...times(2, runsTests), works, ...times(2, runsTests)],
      'turn 2, turn 3, turn 4, turn 5, turn 6',
    ],
    ['tests and an idle turn', [...times(2, runsTests), idles], 'turn 2, turn 3, halt no-progress'],
    ['a turn that asks is not idle', [...times(2, runsTests), wantsPerson()], 'turn 2, turn 3, wait person'],
    ['three turns without any change', times(3, idles), 'turn 2, turn 3, halt no-progress'],
    ['a change separates idle turns', [idles, idles, works, idles, idles], 'turn 2, turn 3, turn 4, turn 5, turn 6'],
    [
      'a change by a crashed turn separates idle turns',
      [idles, idles, turn({ end: 'failed', tree: 'x' }), idles, idles],
      'turn 2, turn 3, turn 3 attempt 2, turn 4, turn 5',
    ],
    [
      'a change by a rate-limited turn separates idle turns',
      [idles, idles, turn({ end: 'limited', tree: 'x' }), woke, idles, idles],
      'turn 2, turn 3, wait limit, turn 3 attempt 2, turn 4, turn 5',
    ],
    [
      'a limit does not separate idle turns',
      [idles, idles, isLimited, woke, idles],
      'turn 2, turn 3, wait limit, turn 3 attempt 2, halt no-progress',
    ],
    [
      'a crash does not separate idle turns',
      [idles, idles, crashes(), idles],
      'turn 2, turn 3, turn 3 attempt 2, halt no-progress',
    ],
    [
      'a loss does not separate idle turns',
      [idles, idles, lost, idles],
      'turn 2, turn 3, turn 3 attempt 2, halt no-progress',
    ],
  ])('%s', (_, facts, asked) => {
    expect(play(unchecked, ...facts).join(', ')).toBe(asked)
    expect(play(specOf({}, { iterations: 0 }), ...facts).join(', ')).toBe(asked)
  })

  const fails = (...failures: number[]) =>
    failures.flatMap((count) => [claimsIdly('clear'), checks('fail', count, `${count}`)])

  test.each<Story>([
    ['three crashes are not checked', times(3, crashes()), 'turn 1 attempt 2, turn 1 attempt 3, halt agent-failed'],
    [
      'test-only turns are checked first',
      [...times(3, runsTests), checks('fail')],
      'turn 2, turn 3, check, halt test-only',
    ],
    ['idle turns are checked first', [...times(3, idles), checks('fail')], 'turn 2, turn 3, check, halt no-progress'],
    [
      'the same failing check five times',
      times(5, claims('clear'), checks('fail')),
      'check, turn 2, check, turn 3, check, turn 4, check, turn 5, check, halt same-error',
    ],
    [
      'turns without a claim do not separate equal check failures',
      [...times(4, claims('clear'), checks('fail'), works), claims('clear'), checks('fail')],
      'check, turn 2, turn 3, check, turn 4, turn 5, check, turn 6, turn 7, check, turn 8, turn 9, check, halt same-error',
    ],
    [
      'checks that get better are progress',
      fails(5, 4, 3, 2),
      'check, turn 2, check, turn 3, check, turn 4, check, turn 5',
    ],
    ['checks that go up and down are not', fails(5, 6, 5), 'check, turn 2, check, turn 3, check, halt no-progress'],
    [
      'checks that were better once are not',
      fails(5, 3, 4, 4, 4),
      'check, turn 2, check, turn 3, check, turn 4, check, turn 5, check, halt no-progress',
    ],
    ['a check that cannot start', [claims('clear'), checks('broken')], 'check, halt verifier-broken'],
    ['a check that times out once', [claims('clear'), checks('timeout')], 'check, turn 2'],
    [
      'a check that times out twice',
      times(2, claims('clear'), checks('timeout')),
      'check, turn 2, check, halt verifier-broken',
    ],
    [
      'a turn without a check does not separate the two',
      [claims('clear'), checks('timeout'), works, claims('clear'), checks('timeout')],
      'check, turn 2, turn 3, check, halt verifier-broken',
    ],
    [
      'a check that ends in between',
      [claims('clear'), checks('timeout'), claims('clear'), checks('fail'), claims('clear'), checks('timeout')],
      'check, turn 2, check, turn 3, check, turn 4',
    ],
  ])('%s', (_, facts, asked) => {
    expect(play(checkedByTests, ...facts).join(', ')).toBe(asked)
  })

  test.each<[what: string, spec: Spec, made: Partial<Turn>]>([
    ['a failure that looks the same', specOf({ checks: ['npm test'] }, { sameError: 3 }), {}],
    ['a test-only turn', specOf({ checks: ['npm test'] }, { noProgress: 9 }), { ranTests: true, tree: 'tree 0' }],
  ])('%s does not count while checks get better', (_, spec, made) => {
    const failing = (failures: number) => [
      turn({ claim: { kind: 'clear' }, ...made }),
      checks('fail', failures, 'not yet'),
    ]
    expect(play(spec, ...[9, 8, 7, 6].flatMap(failing)).at(-1)).toBe('turn 5')
    expect(play(spec, ...[9, 9, 9].flatMap(failing)).at(-1)).toMatch(/^halt (same-error|test-only)$/)
  })

  test('counts the open failures', () => {
    const failures = (...facts: Happening[]) => loopAfter(twoChecks, claims('clear'), ...facts).tally.failures
    expect(failures(checks('pass', 7))).toBe(0)
    expect(failures(checks('fail', 7))).toBe(14)
    expect(failures(checks('fail'))).toBe(2)
    expect(failures(checks('timeout', -1))).toBe(2)
    expect(failures(verdicts({ a: 'pass', b: 'fail' }))).toBe(1)
  })

  test.each<StoryOf>([
    [
      'one of two checks cannot start',
      twoChecks,
      [claims('clear'), verdicts({ a: 'pass', b: 'broken' })],
      'check, halt verifier-broken',
    ],
    [
      'two checks time out once each',
      twoChecks,
      [claims('clear'), verdicts({ a: 'timeout', b: 'fail' }), claims('clear'), verdicts({ a: 'fail', b: 'timeout' })],
      'check, turn 2, check, turn 3',
    ],
    [
      'earlier crashes are not counted again',
      specOf({}, { sameError: 3 }),
      [...times(2, crashes()), works, ...times(2, crashes())],
      'turn 1 attempt 2, turn 1 attempt 3, turn 2, turn 2 attempt 2, turn 2 attempt 3',
    ],
    [
      'an idle turn separates test-only turns',
      specOf({}, { noProgress: 9 }),
      [...times(2, runsTests), idles, runsTests],
      'turn 2, turn 3, turn 4, turn 5',
    ],
    [
      'a tree that was unknown for a turn is the same tree',
      unchecked,
      [turn({ words: 'I looked.' }), ...times(3, turn({ tree: 'tree 0' }))],
      'turn 2, turn 3, turn 4, halt no-progress',
    ],
    [
      'repeated words if the tree is unknown',
      blind(endless),
      times(4, idles),
      'turn 2, turn 3, turn 4, halt no-progress',
    ],
    ['new words if the tree is unknown', blind(endless), times(4, works), 'turn 2, turn 3, turn 4, turn 5'],
    [
      'crashes are no progress if the tree is unknown',
      blind(endless),
      [idles, ...times(3, crashes(), idles)],
      'turn 2, turn 2 attempt 2, turn 3, turn 3 attempt 2, turn 4, turn 4 attempt 2, halt no-progress',
    ],
    [
      'limits are no progress if the tree is unknown',
      blind(endless),
      [idles, idles, isLimited, woke, idles, idles],
      'turn 2, turn 3, wait limit, turn 3 attempt 2, turn 4, halt no-progress',
    ],
  ])('%s', (_, start, facts, asked) => {
    expect(play(start, ...facts).join(', ')).toBe(asked)
  })

  const sameErrorIdly = turn({ error: 'E1', tree: 'tree 0' })
  const sameErrorInTests = turn({ error: 'E1', ranTests: true, tree: 'tree 0' })
  const claimsAndWants = turn({ claim: { kind: 'clear' }, ask: { kind: 'person', words: 'May I?' } })
  const paysIdly = turn({ costUsd: 0.4, tree: 'tree 0' })

  test.each<[order: string, spec: Spec, facts: Happening[], end: string]>([
    ['crashes before the same error', specOf({}, { sameError: 3 }), times(3, crashes('E1')), 'agent-failed'],
    ['the same error before test-only turns', specOf({}, { sameError: 3 }), times(3, sameErrorInTests), 'same-error'],
    ['the same error before no progress', specOf({}, { sameError: 3 }), times(3, sameErrorIdly), 'same-error'],
    ['test-only turns before no progress', unchecked, times(3, runsTests), 'test-only'],
    ['no progress before the last iteration', threeTurns, times(3, idles), 'no-progress'],
    ['no progress before the deadline', halfAnHour, [idles, idles, at(31, idles)], 'no-progress'],
    ['no progress before the money', specOf({}, { costUsd: 1 }), times(3, paysIdly), 'no-progress'],
    ['a third crash before the deadline', halfAnHour, [crashes(), crashes(), at(31, crashes())], 'agent-failed'],
    ['the deadline at a first crash', halfAnHour, [at(31, crashes())], 'timeout'],
    ['the money at a first crash', specOf({}, { costUsd: 1 }), [turn({ end: 'failed', costUsd: 1 })], 'cost'],
    ['the deadline at a checked crash', checkedHalfHour, [at(31, crashes()), at(32, checks('fail'))], 'timeout'],
    [
      'a third crash at the deadline, checked',
      checkedHalfHour,
      [crashes(), crashes(), at(31, crashes()), at(32, checks('fail'))],
      'agent-failed',
    ],
    [
      'a broken check before the last iteration',
      specOf({ checks: ['npm test'] }, { iterations: 1 }),
      [claims('clear'), checks('broken')],
      'verifier-broken',
    ],
    ['a broken check before a question', checkedByTests, [claimsAndWants, checks('broken')], 'verifier-broken'],
  ])('judges in order: %s', (_, spec, facts, end) => {
    expect(play(spec, ...facts).at(-1)).toBe(`halt ${end}`)
  })

  test.each<[sentence: string, spec: Spec, facts: Happening[]]>([
    ['The agent failed 3 times in a row: Segmentation fault.', unchecked, times(3, crashes())],
    ['The same failure occurred 5 times in a row: E1.', unchecked, times(5, failsWith('E1'))],
    ['3 iterations in a row only ran tests and changed nothing.', unchecked, times(3, runsTests)],
    ['3 iterations in a row changed nothing.', unchecked, times(3, idles)],
    [
      'The check "npm test" cannot be started: sh: vitest: not found',
      checkedByTests,
      [claims('clear'), checks('broken', undefined, '\nsh: vitest: not found\n')],
    ],
    ['The check "npm test" timed out twice in a row.', checkedByTests, times(2, claims('clear'), checks('timeout'))],
    ['Iteration 1 was attempted 100 times, but the agent never got to work.', unchecked, times(100, lost)],
  ])('says: %s', (sentence, spec, facts) => {
    expect(sentenceAfter(spec, ...facts)).toBe(sentence)
  })
})

describe('the breaker is half-open', () => {
  test.each<[story: string, spec: Spec, facts: Happening[], hint: string]>([
    ['after two crashes', unchecked, times(2, crashes()), 'The last attempts crashed.'],
    ['after four equal failures', unchecked, times(4, failsWith('E1')), 'The same failure occurred 4 times in a row.'],
    ['after two turns of tests', unchecked, times(2, runsTests), 'The last iterations only ran tests.'],
    ['after two idle turns', unchecked, times(2, idles), 'Nothing in the worktree has changed recently.'],
    ['after one of two', specOf({}, { noProgress: 2 }), [idles], 'Nothing in the worktree has changed recently.'],
    [
      'after four equal checks',
      checkedByTests,
      times(4, claims('clear'), checks('fail')),
      'The same failure occurred 4 times',
    ],
  ])('%s, and the agent reads about it once', (_, spec, facts, hint) => {
    const loop = loopAfter(spec, ...facts)
    expect(breakerState(loop)).toBe('half-open')
    expect(feedbackAfter(loop).split(hint)).toHaveLength(2)
    expect(breakerState(loopAfter(spec, ...facts.slice(0, -1)))).toBe('closed')
  })

  test('for every attempt at that iteration, and says it once', () => {
    const told = feedbackAfter(unchecked, idles, idles, crashes())
    expect(told.split('Nothing in the worktree has changed recently.')).toHaveLength(2)
  })

  test('never before anything has happened', () => {
    const strict = specOf({}, { noProgress: 1, sameError: 1 })
    expect(breakerState(loopAfter(strict))).toBe('closed')
    expect(feedbackAfter(strict, works)).toBe('')
    expect(play(strict, idles)).toEqual(['halt no-progress'])
  })

  test('until there is progress', () => {
    expect(breakerState(loopAfter(unchecked, idles, idles, works))).toBe('closed')
    expect(feedbackAfter(unchecked, idles, idles, works)).toBe('')
    expect(breakerState(loopAfter(unchecked, idles, idles, idles))).toBe('open')
  })
})

test.each<[text: string, line: string]>([
  ['one', 'one'],
  ['one\ntwo\n\n', 'two'],
  ['one\r\ntwo\r\n', 'two'],
  ['\u001b[31mred\u001b[0m', 'red'],
  ['', 'it said nothing.'],
  [' \n\t\n', 'it said nothing.'],
  ['x'.repeat(200), 'x'.repeat(200)],
  ['x'.repeat(201), `${'x'.repeat(199)}…`],
])('the last line of %j is %j', (text, line) => {
  expect(oneLine(text)).toBe(line)
})

describe('the agents of consecutive loops', () => {
  const ends = (reason: HaltReason) => ({ next: { kind: 'halt', reason, sentence: '' } }) as const
  const done = { next: { kind: 'complete', proof: 'verified', sentence: '' } } as const

  test.each<[what: string, loops: Pick<Loop, 'next'>[], useless: boolean]>([
    ['one that is unusable', [ends('agent-unusable')], true],
    ['one that crashed once', [ends('agent-failed')], false],
    ['one that crashed twice in a row', [ends('agent-failed'), ends('agent-failed')], true],
    ['one that has worked in between', [ends('agent-failed'), done, ends('agent-failed')], false],
    [
      'one that stopped for another reason in between',
      [ends('agent-failed'), ends('cost'), ends('agent-failed')],
      false,
    ],
  ])('are doubted: %s', (_, loops, useless) => {
    let last = { crashed: 0, useless: false }
    for (const loop of loops) last = doubt(last.crashed, loop)
    expect(last.useless).toBe(useless)
  })
})
