/** What a "verified" rests on: changes that --may-change allows, and sealed runs that would pass with any files. */
import { describe, expect, test } from 'vitest'
import type { Finding, Loop, Spec, Verdict } from './loop.ts'
import {
  checksOn,
  claims,
  feedbackAfter,
  type Happening,
  loopAfter,
  nameOf,
  noticed,
  play,
  proved,
  sentenceAfter,
  specOf,
  startedWith,
  untried,
} from './stories.test-support.ts'

function begun(change: Partial<Spec> = {}, before: Verdict['result'] = 'fail'): Loop {
  return startedWith(specOf({ checks: ['npm test'], ...change }), before)
}

const red = begun()
const green = begun({}, 'pass')
const excused = noticed('may-change', 'a.test.ts')
const changed = noticed('tests-changed', 'b.test.ts')

function done(findings: Finding[]): Happening[] {
  return [claims('clear'), checksOn('pass', { findings })]
}

function endOf(start: Loop, facts: readonly Happening[]): string {
  return nameOf(loopAfter(start, ...facts).next)
}

type Case = [story: string, start: Loop, facts: Happening[], end: string]
const fails = [proved('reversed', 'fail'), proved('control', 'pass')]

describe('tests that the agent is meant to change', () => {
  test.each<Case>([
    ['are tried without the work if the check failed before', red, done(excused), 'prove reversed'],
    ['and fail without it leave a verified proof', red, [...done(excused), ...fails], 'complete verified'],
    ['and pass without it are altered', red, [...done(excused), proved('reversed', 'pass')], 'complete altered'],
    ['and cannot be tried are altered', red, [...done(excused), untried('reversed')], 'complete altered'],
    [
      'and fail where the current files fail too are altered',
      red,
      [...done(excused), proved('reversed', 'fail'), proved('control', 'fail')],
      'complete altered',
    ],
    ['are altered with --proof off', begun({ proof: 'off' }), done(excused), 'complete altered'],
    ['are tried with --proof seal as well', begun({ proof: 'seal' }), done(excused), 'prove reversed'],
    ['are tried under --until as well', begun({ until: true }), done(excused), 'prove reversed'],
    [
      'and fail without it are what --until asks for',
      begun({ until: true }),
      [...done(excused), ...fails],
      'complete verified',
    ],
    ['keep a check that passed before', green, done(excused), 'complete kept'],
    ['are tried at the start if the baseline is unknown', begun({}, 'timeout'), done(excused), 'prove start'],
    ['and passed there are kept', begun({}, 'timeout'), [...done(excused), proved('start', 'pass')], 'complete kept'],
    [
      'and cannot be tried there need the work as well',
      begun({}, 'timeout'),
      [...done(excused), untried('start')],
      'prove reversed',
    ],
  ])('%s', (_, start, facts, end) => {
    expect(endOf(start, facts)).toBe(end)
  })

  test.each<Case>([
    ['alone are sealed like any others', red, done([...excused, ...changed]), 'prove sealed'],
    [
      'that pass without the work are altered, not kept',
      red,
      [...done([...excused, ...changed]), proved('sealed', 'pass'), proved('reversed', 'pass')],
      'complete altered',
    ],
    [
      'are tried without the work with --proof seal',
      begun({ proof: 'seal' }),
      [...done([...excused, ...changed]), proved('sealed', 'pass')],
      'prove reversed',
    ],
    [
      'leave it verified if everything speaks for the work',
      red,
      [...done([...excused, ...changed]), proved('sealed', 'pass'), ...fails, proved('start', 'fail')],
      'complete verified',
    ],
  ])('next to others %s', (_, start, facts, end) => {
    expect(endOf(start, facts)).toBe(end)
  })

  test('are altered if git does not show them, so that the check seems flaky', () => {
    const same = [claims('clear'), checksOn('pass', { findings: excused, tree: 'tree 0' })]
    const facts = [...same, checksOn('pass', { findings: excused, tree: 'tree 0' }), ...fails]
    expect(endOf({ ...red, tally: { ...red.tally, failed: { tree: 'tree 0', checks: ['npm test'] } } }, facts)).toBe(
      'complete altered',
    )
  })

  test('must all need the work: one honest check does not speak for another', () => {
    const two = begun({ checks: ['unit', 'lint'] })
    const facts = [...done(excused), proved('reversed', { unit: 'pass', lint: 'fail' }), proved('control', 'pass')]
    expect(endOf(two, facts)).toBe('complete altered')
  })

  test('are named in the sentence', () => {
    expect(sentenceAfter(red, ...done(excused), ...fails)).toBe(
      '`npm test` failed before the loop began and passes now. Changes to a.test.ts are allowed by --may-change.',
    )
    expect(sentenceAfter(green, ...done(excused))).toMatch(/ Changes to a\.test\.ts are allowed by --may-change\.$/)
    expect(sentenceAfter(red, ...done(excused), proved('reversed', 'pass'))).toBe(
      "The checks pass with this loop's changes to a.test.ts, which --may-change allows.",
    )
    expect(sentenceAfter(red, ...done(excused), untried('reversed', 'no git'))).toBe(
      "The checks pass with this loop's changes to a.test.ts, which --may-change allows. ralph could not test whether they need the rest of its work: no git.",
    )
  })

  test('are no news to the agent', () => {
    expect(feedbackAfter(red, claims('clear'), checksOn('fail', { findings: excused }))).not.toContain('a.test.ts')
  })

  test('are refused only if a stronger proof is required', () => {
    const strict = begun({ require: 'verified' })
    expect(play(strict, ...done(excused), proved('reversed', 'pass')).at(-1)).toBe('turn 2')
    expect(feedbackAfter(strict, ...done(excused), proved('reversed', 'pass'))).toMatch(
      /Do the actual work: the tests you changed must fail without it\.$/,
    )
    expect(feedbackAfter(begun({ require: 'tested' }, 'pass'), ...done(excused))).toMatch(
      /in a file that --may-change does not cover\.$/,
    )
  })
})

describe('a sealed run', () => {
  const counted = (tests?: number): Loop => ({
    ...red,
    tally: { ...red.tally, before: [{ check: 'npm test', result: 'fail', ...(tests === undefined ? {} : { tests }) }] },
  })
  const sealed = (tests?: number) => [
    ...done(changed),
    proved('sealed', 'pass', tests === undefined ? {} : { tests }),
    ...fails,
  ]

  test.each<Case>([
    ['that ran all original tests speaks for itself', counted(2), sealed(2), 'complete verified'],
    ['that ran more of them does as well', counted(2), sealed(3), 'complete verified'],
    ['that ran none says nothing', counted(0), sealed(0), 'prove start'],
    ['without a test count at the start is doubted', counted(), sealed(2), 'prove start'],
    ['that counts no tests is doubted', counted(), sealed(), 'prove start'],
    [
      'is believed if the start fails in the same place',
      counted(),
      [...sealed(), proved('start', 'fail')],
      'complete verified',
    ],
    ['is not believed if it passes', counted(), [...sealed(), proved('start', 'pass')], 'complete altered'],
    ['is not believed if that cannot be tried', counted(), [...sealed(), untried('start')], 'complete altered'],
    ['needs no such doubt if the check passed before', green, sealed(), 'complete tested'],
  ])('%s', (_, start, facts, end) => {
    expect(endOf(start, facts)).toBe(end)
  })

  test('is measured by the files that an unfinished loop began with', () => {
    const later = { ...counted(2), spec: { ...red.spec, work: { ...red.spec.work, proofBase: 'tree base' } } }
    expect(endOf(later, sealed(2))).toBe('prove start')
  })

  test('that proves nothing says so', () => {
    expect(sentenceAfter(counted(), ...sealed(), proved('start', 'pass'))).toBe(
      'In a clean copy, `npm test` passes even with the original files, so the sealed run proves nothing.',
    )
    expect(sentenceAfter(counted(), ...sealed(), untried('start', 'no room'))).toBe(
      'ralph could not test whether `npm test` fails with the original files in a clean copy, as before the loop began: no room.',
    )
  })

  test('with fewer tests says which run that was', () => {
    expect(sentenceAfter(counted(2), ...sealed(1))).toBe(
      '`npm test` ran 2 tests before the loop began, but only 1 in the sealed run.',
    )
  })
})
