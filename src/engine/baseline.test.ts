/** The baseline, and checks that fail and pass on the same files. */
import { describe, expect, test } from 'vitest'
import { type Loop, type Spec, startLoop, type Verdict } from './loop.ts'
import { step } from './step.ts'
import {
  at,
  cancel,
  checkedByTests,
  checks,
  checksOn,
  claims,
  claimsIdly,
  crashes,
  feedbackAfter,
  type Happening,
  idles,
  loopAfter,
  lost,
  MINUTE,
  nameOf,
  noticed,
  pause,
  play,
  proved,
  resume,
  runsTests,
  START,
  say,
  sentenceAfter,
  setLimits,
  specOf,
  startedWith,
  times,
  told,
  verdicts,
  woke,
  works,
} from './stories.test-support.ts'

/** A loop that has done nothing yet. */
function made(change: Partial<Spec> = {}, limits: Partial<Spec['limits']> = {}): Loop {
  return startLoop('L1', specOf({ checks: ['npm test'], ...change }, limits), { at: START, tree: 'tree 0' })
}

const green = (limits: Partial<Spec['limits']> = {}): Loop =>
  startedWith(specOf({ checks: ['npm test'] }, limits), 'pass')

describe('before any work', () => {
  test('all checks run', () => {
    const stages = [{ name: 'LINT', check: 'lint' }, { name: 'DOCS' }]
    expect(made({ stages }).next).toEqual({ kind: 'check', checks: ['lint', 'npm test'], because: 'start' })
  })

  test('nothing runs if there is no check or no time for it', () => {
    const { work } = checkedByTests
    expect(nameOf(made({ checks: [] }).next)).toBe('turn 1')
    expect(nameOf(made({ work: { ...work, baselineMinutes: 0 } }).next)).toBe('turn 1')
  })

  test.each<[result: Verdict['result'], told: RegExp]>([
    ['pass', /^$/],
    ['fail', /^Before any work, the check `npm test` fails\. Its output ends with:\nfail$/],
    ['broken', /^Before any work, the check `npm test` could not be started: broken$/],
    ['timeout', /^$/],
  ])('a check that ends as %s is reported to the first turn, and ends nothing', (result, words) => {
    expect(play(made(), checks(result))).toEqual(['turn 1'])
    expect(feedbackAfter(made(), checks(result))).toMatch(words)
  })

  test('breaker, best and slow ignore it', () => {
    const { tally } = made()
    const after = loopAfter(made(), checks('timeout')).tally
    expect(after).toEqual({ ...tally, before: [{ check: 'npm test', result: 'timeout' }] })
    expect(play(loopAfter(made(), checks('timeout')), claims('clear'), checks('timeout')).at(-1)).toBe('turn 2')
    const failed = loopAfter(made({}, { sameError: 2 }), checks('fail', 3))
    expect(failed.tally).toMatchObject({ repeats: 0, stalled: 0, falling: false })
    expect(failed.tally.best).toBeUndefined()
    expect(play(failed, claims('clear'), checks('fail', 3)).at(-1)).toBe('turn 2')
  })

  test('time does not count against the limit', () => {
    const story = [at(50, checks('fail')), at(79, works), at(80, works)]
    expect(play(made({}, { minutes: 30 }), ...story)).toEqual(['turn 1', 'turn 2', 'check'])
    expect(loopAfter(made({}, { minutes: 30 }), at(50, checks('fail'))).next).toMatchObject({
      deadline: START + 80 * MINUTE,
    })
  })

  test("files that the checks write are not the agent's work", () => {
    const loop = loopAfter(made(), checksOn('pass', { tree: 'with a report' }))
    expect(loop.tally).toMatchObject({ tree: 'with a report', startTree: 'tree 0', changed: false })
  })

  test.each<[order: string, facts: Happening[], asked: string]>([
    ['a pause can be undone', [pause, resume], 'check'],
    ['a pause keeps the checks for later', [pause, resume, checks('fail')], 'turn 1'],
    ['a cancel ends it', [cancel], 'halt cancelled'],
    ['after a dead driver they run again', [lost], 'check'],
    ['a look at the clock changes nothing', [at(900, woke)], 'check'],
    ['new limits change nothing', [setLimits({ minutes: 1 })], 'check'],
    ['a new prompt changes nothing', [told({ kind: 'edit', prompt: 'Other.' })], 'check'],
    ['an unrequested turn changes nothing', [works], 'check'],
    ['an unrequested experiment changes nothing', [proved('sealed', 'pass')], 'check'],
    ['a claim of done has no effect', [told({ kind: 'done' })], 'check'],
    ['a new spec applies from the first turn', [{ at: START, kind: 'asked', spec: checkedByTests }], 'check'],
  ])('%s', (_, facts, asked) => {
    expect(play(made(), ...facts).at(-1)).toBe(asked)
  })

  test('what a person says reaches the first turn', () => {
    expect(feedbackAfter(made(), say('Use tabs.'), checks('pass'))).toBe('A person says: Use tabs.')
  })

  test('a pause is not counted twice', () => {
    const loop = loopAfter(made({}, { minutes: 30 }), at(1, pause), at(20, resume), at(25, checks('fail')))
    expect(loop.next).toMatchObject({ kind: 'turn', deadline: START + 55 * MINUTE })
  })
})

describe('--until that is green before any work', () => {
  const until = made({ until: true })

  test('completes without a turn', () => {
    expect(play(until, checks('pass'))).toEqual(['complete verified'])
    expect(sentenceAfter(until, checks('pass'))).toBe(
      '`npm test` already passes, so there was nothing to do. To check other work with it, use --verify.',
    )
  })

  test.each<[story: string, start: Loop, fact: Happening, asked: string]>([
    ['with an open stage continues', made({ until: true, stages: [{ name: 'DOCS' }] }), checks('pass'), 'turn 1'],
    [
      'with stages that are all checked completes',
      made({ until: true, stages: [{ name: 'LINT', check: 'lint' }] }),
      checks('pass'),
      'complete verified',
    ],
    ['only in part continues', made({ until: true, checks: ['a', 'b'] }), verdicts({ a: 'pass', b: 'fail' }), 'turn 1'],
    ['and did not run in full continues', made({ until: true, checks: ['a', 'b'] }), verdicts({ a: 'pass' }), 'turn 1'],
    ['without --until continues', made(), checks('pass'), 'turn 1'],
    [
      'because an earlier loop changed its tests runs sealed first',
      until,
      checksOn('pass', { findings: noticed('tests-changed', 'a.test.ts') }),
      'prove sealed',
    ],
    [
      'and hides its tests is altered',
      until,
      checksOn('pass', { findings: noticed('runner-changed', 'node_modules/.bin/vitest') }),
      'complete altered',
    ],
  ])('%s', (_, start, fact, asked) => {
    expect(play(start, fact)).toEqual([asked])
  })
})

describe('checks that were green from the start', () => {
  test.each<[story: string, start: Loop, facts: Happening[], asked: string]>([
    ['complete nothing on the last turn', green({ iterations: 1 }), [works, checks('pass')], 'halt max-iterations'],
    ['complete nothing that stalls', green(), [works, ...times(3, idles), checks('pass')], 'halt no-progress'],
    [
      'complete nothing that only ran tests',
      green(),
      [works, ...times(3, runsTests), checks('pass')],
      'halt test-only',
    ],
    [
      'complete nothing that crashed at the end of its budget',
      green({ minutes: 5 }),
      [works, at(6, crashes()), at(7, checks('pass'))],
      'halt timeout',
    ],
    ['let a clear claim count', green(), [claims('clear'), checks('pass')], 'complete kept'],
    ['do not let one weak claim count', green(), [claims('weak'), checks('pass')], 'turn 2'],
    ['let the second weak claim count', green(), times(2, claims('weak'), checks('pass')), 'complete kept'],
    ['question a claim once where nothing changed', green(), [claimsIdly('clear'), checks('pass')], 'turn 2'],
    ['believe it the second time', green(), times(2, claimsIdly('clear'), checks('pass')), 'complete kept'],
    ['refuse a claim that broke them', green(), [claims('clear'), checks('fail')], 'turn 2'],
    [
      'are no proof if they broke and pass again',
      green({ iterations: 2 }),
      [claims('clear'), checks('fail'), works, checks('pass')],
      'halt max-iterations',
    ],
  ])('%s', (_, start, facts, asked) => {
    expect(play(start, ...facts).at(-1)).toBe(asked)
  })

  test('in stages are claimed like any other, and graded together', () => {
    const stages = [
      { name: 'A', check: 'a' },
      { name: 'B', check: 'b' },
    ]
    const start = (before: Record<string, Verdict['result']>) =>
      loopAfter(made({ checks: [], stages }), verdicts(before))
    const story = [claims('clear', 'A'), checks('pass'), claims('clear', 'B'), checks('pass')]
    expect(play(start({ a: 'pass', b: 'pass' }), ...story)).toEqual(['check', 'turn 2', 'check', 'complete kept'])
    expect(play(start({ a: 'fail', b: 'pass' }), ...story).at(-1)).toBe('complete verified')
    const silent = loopAfter(start({ a: 'pass', b: 'pass' }), ...times(9, works))
    expect(play(silent, works, checks('pass')).at(-1)).toBe('halt max-iterations')
  })
})

describe('a check that fails and passes on the same files', () => {
  const red = loopAfter(made(), checksOn('fail'))
  const flaky = [claimsIdly('clear'), checksOn('pass'), checksOn('pass')]

  test('runs again, and its failure counts for nothing', () => {
    expect(play(red, ...flaky, claimsIdly('clear'), checksOn('pass'), checksOn('pass'))).toEqual([
      'check',
      'check again',
      'turn 2',
      'check',
      'check again',
      'complete kept',
    ])
    expect(sentenceAfter(red, ...flaky, works, claims('clear'), checksOn('pass'))).toBe(
      "`npm test` passes as it did before, so nothing broke; the only evidence that the task is done is the agent's claim. `npm test` failed before on the same files, so it proves nothing.",
    )
  })

  test('is noticed', () => {
    expect(loopAfter(red, ...flaky).tally).toMatchObject({ flaky: ['npm test'], findings: [{ kind: 'flaky' }] })
    expect(feedbackAfter(red, ...flaky)).toContain('nothing has changed')
  })

  test('and fails again is a false claim like any other', () => {
    const loop = loopAfter(red, claimsIdly('clear'), checksOn('pass'), checksOn('fail'))
    expect(nameOf(loop.next)).toBe('turn 2')
    expect(loop.tally).toMatchObject({ falseClaims: 1 })
    expect(loop.tally.flaky).toBeUndefined()
  })

  test('does not complete a loop on its last turn', () => {
    const last = loopAfter(made({}, { iterations: 1 }), checksOn('fail'))
    expect(play(last, idles, checksOn('pass'), checksOn('pass')).at(-1)).toBe('halt max-iterations')
  })

  test('proves nothing by failing with the old sources either', () => {
    const tests = { findings: noticed('tests-added', 'new.test.ts') }
    const story = [
      ...flaky,
      claims('clear'),
      checksOn('pass', tests),
      proved('sealed', 'pass'),
      proved('reversed', 'fail'),
    ]
    expect(play(red, ...story, proved('control', 'pass')).at(-1)).toBe('complete kept')
  })

  test('after more work is simply fixed', () => {
    expect(play(red, claims('clear'), checksOn('pass'))).toEqual(['check', 'complete verified'])
  })
})

test('a loop that an older version left in the middle of its checks catches up on its baseline', () => {
  const { before: _, ...tally } = loopAfter(startedWith(checkedByTests, 'fail'), claims('clear')).tally
  const old: Loop = {
    id: 'L1',
    spec: checkedByTests,
    tally,
    next: { kind: 'check', checks: ['npm test'], because: 'claim' },
  }
  const checked = step(old, {
    at: START,
    kind: 'checked',
    verdicts: [{ check: 'npm test', result: 'pass', tail: '' }],
    findings: [],
  })
  expect(nameOf(checked.next)).toBe('prove start')
})
