import { describe, expect, test } from 'vitest'
import type { Spec } from './loop.ts'
import { allChecks, comesTooEarly, openStages, stageClaimed } from './stages.ts'
import {
  blind,
  checks,
  claims,
  claimsIdly,
  crashes,
  feedbackAfter,
  type Happening,
  idles,
  isLimited,
  loopAfter,
  lost,
  play,
  runsTests,
  specOf,
  times,
  turn,
  verdicts,
  woke,
  works,
} from './stories.test-support.ts'

const TESTS = { name: 'TESTS', check: 'npm test' }
const LINT = { name: 'LINT', check: 'npm run lint' }
const DOCS = { name: 'DOCS' }
const DEMO = { name: 'DEMO' }

const checkedStages = specOf({ stages: [TESTS, LINT] })
const mixed = specOf({ stages: [TESTS, DOCS] })
const spoken = specOf({ stages: [DOCS, DEMO] })
const spokenThenChecked = specOf({ stages: [DOCS, TESTS] })

function passedAfter(spec: Spec, ...facts: Happening[]): string[] {
  return loopAfter(spec, ...facts).tally.passed
}

describe('stages', () => {
  test.each<[story: string, spec: Spec, facts: Happening[], asked: string]>([
    [
      'in order, each with its check, all again at the end',
      checkedStages,
      [claims('clear', 'TESTS'), checks('pass'), claims('clear', 'LINT'), checks('pass')],
      'check, turn 2, check, complete verified',
    ],
    [
      'a weak claim is enough to check one',
      checkedStages,
      [claims('weak', 'TESTS'), checks('pass'), claims('weak', 'LINT'), checks('pass')],
      'check, turn 2, check, complete verified',
    ],
    ['a false claim leaves it open', checkedStages, [claims('clear', 'TESTS'), checks('fail')], 'check, turn 2'],
    ['one out of order is not checked', checkedStages, [claims('clear', 'LINT')], 'turn 2'],
    [
      'one out of order does not complete',
      spoken,
      [claims('clear', 'DEMO'), claims('clear', 'DEMO')],
      'turn 2, turn 3',
    ],
    [
      'without checks, in order',
      spoken,
      [claims('clear', 'DOCS'), claims('clear', 'DEMO')],
      'turn 2, complete claimed',
    ],
    [
      'without checks, twice weakly',
      spoken,
      [...times(2, claims('weak', 'DOCS')), ...times(2, claims('weak', 'DEMO'))],
      'turn 2, turn 3, turn 4, complete claimed',
    ],
    [
      'without checks, the promise of the loop is not enough',
      spoken,
      [claims('clear'), claims('clear')],
      'turn 2, turn 3',
    ],
    [
      'the last one without a check still has the others checked',
      mixed,
      [claims('clear', 'TESTS'), checks('pass'), claims('clear', 'DOCS'), checks('pass')],
      'check, turn 2, check, complete verified',
    ],
    [
      'one without a check is taken at its word, and proven at the end',
      spokenThenChecked,
      [claims('clear', 'DOCS'), claims('clear', 'TESTS'), checks('pass')],
      'turn 2, check, complete verified',
    ],
    [
      'one that fails at the end is opened again',
      checkedStages,
      [
        claims('clear', 'TESTS'),
        checks('pass'),
        claims('clear', 'LINT'),
        verdicts({ 'npm test': 'fail', 'npm run lint': 'pass' }),
        claims('clear', 'TESTS'),
        checks('pass'),
      ],
      'check, turn 2, check, turn 3, check, complete verified',
    ],
    [
      'the promise of the loop starts the checks of every stage',
      checkedStages,
      [claims('clear'), checks('pass')],
      'check, complete verified',
    ],
    [
      'the promise of the loop does not close a stage that cannot be checked',
      mixed,
      [claims('clear'), checks('pass'), claims('clear', 'DOCS'), checks('pass')],
      'check, turn 2, check, complete verified',
    ],
    [
      'the checks of the loop run at the end as well',
      specOf({ stages: [TESTS, DOCS], checks: ['make'] }),
      [
        claims('clear', 'TESTS'),
        checks('pass'),
        claims('clear', 'DOCS'),
        verdicts({ 'npm test': 'pass', make: 'fail' }),
      ],
      'check, turn 2, check, turn 3',
    ],
    [
      'a crash, a limit and a loss close and open nothing',
      checkedStages,
      [
        claims('clear', 'TESTS'),
        checks('pass'),
        crashes(),
        isLimited,
        woke,
        lost,
        claims('clear', 'LINT'),
        checks('pass'),
      ],
      'check, turn 2, turn 2 attempt 2, wait limit, turn 2 attempt 3, turn 2 attempt 4, check, complete verified',
    ],
    ['the tree is unknown', spoken, [claims('clear', 'DOCS'), claims('clear', 'DEMO')], 'turn 2, complete claimed'],
  ])('%s', (_, spec, facts, asked) => {
    expect(play(spec, ...facts).join(', ')).toBe(asked)
    if (spec === spoken) expect(play(blind(spec), ...facts).join(', ')).toBe(asked)
  })

  test('are checked alone while others follow', () => {
    expect(loopAfter(checkedStages, claims('clear', 'TESTS')).next).toMatchObject({
      checks: ['npm test'],
      because: 'claim',
    })
  })

  test('are all checked again with the last one', () => {
    const { next } = loopAfter(checkedStages, claims('clear', 'TESTS'), checks('pass'), claims('clear', 'LINT'))
    expect(next).toMatchObject({ checks: ['npm test', 'npm run lint'], because: 'claim' })
  })

  test('are named as they pass, in the order of the list', () => {
    expect(passedAfter(checkedStages, claims('clear', 'TESTS'))).toEqual([])
    expect(passedAfter(checkedStages, claims('clear', 'TESTS'), checks('fail'))).toEqual([])
    expect(passedAfter(checkedStages, claims('clear', 'TESTS'), checks('pass'))).toEqual(['TESTS'])
    expect(passedAfter(spoken, claims('clear', 'DOCS'))).toEqual(['DOCS'])
    expect(passedAfter(spoken, claims('clear', 'DEMO'))).toEqual([])
  })

  test('that fail at the end are no longer passed', () => {
    const story = [claims('clear', 'TESTS'), checks('pass'), claims('clear', 'LINT')]
    const end = verdicts({ 'npm test': 'fail', 'npm run lint': 'pass' })
    expect(passedAfter(checkedStages, ...story, end)).toEqual(['LINT'])
  })

  test.each<[story: string, spec: Spec, facts: Happening[], told: string]>([
    ['one that passed', checkedStages, [claims('clear', 'TESTS'), checks('pass')], 'Stage TESTS has passed.'],
    [
      'one out of order',
      checkedStages,
      [claims('clear', 'LINT')],
      'Stage TESTS comes before LINT. Finish TESTS first.',
    ],
    [
      'one that only its own tag closes',
      mixed,
      [claims('clear'), checks('pass')],
      'Stage DOCS is still open. Claim it with <promise>DOCS</promise> alone on the last line, after an empty line.',
    ],
    [
      'one that was claimed weakly',
      spoken,
      [claims('weak', 'DOCS')],
      'If you are done, put <promise>DOCS</promise> alone on the last line, after an empty line.',
    ],
    [
      'one that was claimed weakly where others are checked',
      mixed,
      [claims('clear', 'TESTS'), checks('pass'), claims('weak', 'DOCS'), checks('pass')],
      'If you are done, put <promise>DOCS</promise> alone on the last line, after an empty line.',
    ],
    [
      'one claimed in an untouched tree',
      spoken,
      [claimsIdly('clear', 'DOCS')],
      'You said you were done, but nothing has changed. If that is right, say so again.',
    ],
  ])('tell the agent about %s', (_, spec, facts, told) => {
    expect(feedbackAfter(spec, ...facts)).toContain(told)
  })

  test('say nothing to an agent that claims nothing, and no more than needed to one whose checks fail', () => {
    expect(feedbackAfter(spoken, works)).toBe('')
    expect(feedbackAfter(checkedStages, claims('clear'), checks('fail'))).not.toContain('still open')
  })

  test('that fail again after having passed start a new count', () => {
    const strict = specOf({ stages: [TESTS, LINT] }, { sameError: 3 })
    const failed = [claims('clear', 'TESTS'), checks('fail')]
    const reopened = [claims('clear', 'LINT'), verdicts({ 'npm test': 'fail', 'npm run lint': 'pass' })]
    const story = [...failed, ...failed, claims('clear', 'TESTS'), checks('pass'), ...reopened]
    expect(play(strict, ...story).at(-1)).toBe('turn 5')
  })

  test('a stage that passes is progress', () => {
    const story = [idles, idles, claimsIdly('clear', 'TESTS'), checks('pass'), idles, idles]
    expect(play(checkedStages, ...story).at(-1)).toBe('turn 6')
    const testsAndClaims = turn({ claim: { kind: 'clear', stage: 'TESTS' }, ranTests: true, tree: 'tree 0' })
    const tests = [runsTests, testsAndClaims, checks('pass'), runsTests, runsTests]
    expect(play(checkedStages, ...tests).at(-1)).toBe('turn 5')
  })

  test('failures of the next stage are compared with its own', () => {
    const failing = (failures: number) => [claimsIdly('clear', 'LINT'), checks('fail', failures, `${failures}`)]
    const story = [claims('clear', 'TESTS'), checks('pass'), ...failing(9), ...failing(8), ...failing(7), ...failing(6)]
    expect(play(checkedStages, ...story).at(-1)).toBe('turn 6')
  })
})

describe('the last turn with stages', () => {
  const lastTurn = { iterations: 1 }

  test.each<[story: string, spec: Spec, facts: Happening[], asked: string]>([
    [
      'a claimed stage starts every check, and all may be done',
      specOf({ stages: [TESTS, LINT] }, lastTurn),
      [claims('clear', 'TESTS'), checks('pass')],
      'check, complete verified',
    ],
    [
      'a stage without a check starts the others, and all may be done',
      specOf({ stages: [DOCS, TESTS] }, lastTurn),
      [claims('clear', 'DOCS'), checks('pass')],
      'check, complete verified',
    ],
    [
      'a stage that passes alone is not all',
      specOf({ stages: [TESTS, LINT] }, lastTurn),
      [claims('clear', 'TESTS'), verdicts({ 'npm test': 'pass', 'npm run lint': 'fail' })],
      'check, halt max-iterations',
    ],
    [
      'a failing stage settles it',
      specOf({ stages: [TESTS, LINT] }, lastTurn),
      [claims('clear', 'TESTS'), checks('fail')],
      'check, halt max-iterations',
    ],
    [
      'a stage that cannot be checked stays open',
      specOf({ stages: [TESTS, DOCS] }, lastTurn),
      [works, checks('pass')],
      'check, halt max-iterations',
    ],
    [
      'missing verdicts are not requested forever',
      specOf({ stages: [TESTS, LINT] }, lastTurn),
      [claims('clear', 'TESTS'), verdicts({})],
      'check, halt max-iterations',
    ],
    [
      'the command of --until runs although a stage was claimed',
      specOf({ stages: [TESTS, LINT], checks: ['make'], until: true }),
      [claims('clear', 'TESTS'), checks('pass')],
      'check, complete verified',
    ],
  ])('%s', (_, spec, facts, asked) => {
    expect(play(spec, ...facts).join(', ')).toBe(asked)
  })

  test('asks for every check, even for the claim of a stage', () => {
    const all = { checks: ['npm test', 'npm run lint'], because: 'claim' }
    const claimed = claims('clear', 'TESTS')
    expect(loopAfter(specOf({ stages: [TESTS, LINT] }, lastTurn), claimed).next).toMatchObject(all)
    expect(loopAfter(specOf({ stages: [TESTS, LINT], until: true }), claimed).next).toMatchObject(all)
  })

  test('a true claim of a stage is not a false one', () => {
    const spec = specOf({ stages: [TESTS, LINT] }, lastTurn)
    const { tally } = loopAfter(
      spec,
      claims('clear', 'TESTS'),
      verdicts({ 'npm test': 'pass', 'npm run lint': 'fail' }),
    )
    expect(tally.falseClaims).toBe(0)
  })
})

describe('what a claim covers', () => {
  const { tally } = loopAfter(checkedStages)
  const { tally: later } = loopAfter(checkedStages, claims('clear', 'TESTS'), checks('pass'))

  test('is the first open stage while others follow, else the loop', () => {
    expect(stageClaimed(checkedStages, tally, { kind: 'clear', stage: 'TESTS' })).toEqual(TESTS)
    expect(stageClaimed(checkedStages, tally, { kind: 'clear', stage: 'LINT' })).toBeUndefined()
    expect(stageClaimed(checkedStages, tally, { kind: 'clear' })).toBeUndefined()
    expect(stageClaimed(checkedStages, later, { kind: 'clear', stage: 'LINT' })).toBeUndefined()
  })

  test('comes too early for a stage that is not the first open one', () => {
    expect(comesTooEarly(checkedStages, tally, { kind: 'clear', stage: 'LINT' })).toBe(true)
    expect(comesTooEarly(checkedStages, tally, { kind: 'clear', stage: 'TESTS' })).toBe(false)
    expect(comesTooEarly(checkedStages, tally, { kind: 'clear' })).toBe(false)
    expect(comesTooEarly(checkedStages, later, { kind: 'clear', stage: 'LINT' })).toBe(false)
  })

  test('is proven by the checks of all stages and of the loop, each once', () => {
    expect(openStages(checkedStages, later)).toEqual([LINT])
    expect(allChecks(specOf({ stages: [TESTS, DOCS, LINT], checks: ['make', 'npm test'] }))).toEqual([
      'npm test',
      'npm run lint',
      'make',
    ])
  })
})
