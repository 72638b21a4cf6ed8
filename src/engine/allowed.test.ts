/** An allowance covers a file as it was then: whoever changes it afterwards must ask again. */
import { describe, expect, test } from 'vitest'
import type { Finding, Loop } from './loop.ts'
import {
  allow,
  checkedByTests,
  checksOn,
  claims,
  type Happening,
  loopAfter,
  noticed,
  proved,
  say,
  sentenceAfter,
  startedWith,
  times,
} from './stories.test-support.ts'

const red: Loop = startedWith(checkedByTests, 'fail')

/** Changed tests, with a mark of their content. */
function marked(marks: Record<string, string | undefined>): Finding[] {
  return Object.entries(marks).flatMap(([path, mark]) =>
    noticed('tests-changed', path).map((one) => ({ ...one, ...(mark === undefined ? {} : { mark }) })),
  )
}

function claimsWith(findings: Finding[], tree: string): Happening[] {
  return [claims('clear'), checksOn('pass', { findings, tree })]
}

const bends = [proved('sealed', 'fail'), proved('control', 'pass'), proved('reversed', 'pass')]

/**
 * The loop waits with these findings, a.test.ts is allowed, and it continues, because b.test.ts is enough to bend the
 * check.
 */
function allowedOne(findings: Finding[]): Happening[] {
  return [
    ...times(2, ...claimsWith(findings, 't1'), ...bends),
    allow('a.test.ts'),
    checksOn('pass', { findings, tree: 't1' }),
    proved('sealed', 'fail'),
    say('Put b.test.ts back.'),
  ]
}

const both = marked({ 'a.test.ts': 'm1', 'b.test.ts': 'm1' })
const again = [...allowedOne(both), ...claimsWith(marked({ 'a.test.ts': 'm2' }), 't2')]

test('a path is allowed together with its content', () => {
  expect(loopAfter(red, ...allowedOne(both)).tally.allowed).toEqual([{ path: 'a.test.ts', by: 'Ada', mark: 'm1' }])
})

describe('an allowed file that has not changed since', () => {
  const same = [...allowedOne(both), ...claimsWith(marked({ 'a.test.ts': 'm1' }), 't2')]

  test('is left alone by the sealed run', () => {
    expect(loopAfter(red, ...same).next).toMatchObject({ kind: 'prove', run: 'sealed', allowed: ['a.test.ts'] })
  })

  test('allows a verified proof, which names it', () => {
    const shown = [
      proved('sealed', 'pass'),
      proved('reversed', 'fail'),
      proved('control', 'pass'),
      proved('start', 'fail'),
    ]
    const fine = [...same, ...shown]
    expect(loopAfter(red, ...fine).next).toMatchObject({ kind: 'complete', proof: 'verified' })
    expect(sentenceAfter(red, ...fine)).toBe(
      '`npm test` failed before the loop began and passes now, even with the original tests and configuration, except those that were allowed. Changes to a.test.ts were allowed by Ada.',
    )
  })
})

describe('an allowed file that was changed again', () => {
  test('is sealed like any other', () => {
    expect(loopAfter(red, ...again).next).toMatchObject({ kind: 'prove', run: 'sealed', allowed: [] })
  })

  test('can bend the checks, and a person is asked again', () => {
    expect(loopAfter(red, ...again, ...bends).next).toMatchObject({
      kind: 'wait',
      about: 'allow',
      question: expect.stringContaining('to a.test.ts.'),
    })
  })

  test('can be allowed again, in its current form', () => {
    const { tally } = loopAfter(red, ...again, ...bends, allow())
    expect(tally.allowed).toEqual([{ path: 'a.test.ts', by: 'Ada', mark: 'm2' }])
  })

  test('is not named as allowed if the checks do not need it', () => {
    const fine = [...again, proved('sealed', 'pass'), proved('reversed', 'fail'), proved('control', 'pass')]
    expect(sentenceAfter(red, ...fine)).not.toContain('allowed')
  })

  test.each<[what: string, now: Finding[]]>([
    ['deleted', marked({ 'a.test.ts': '' })],
    ['no longer among the findings that are listed', noticed('tests-deleted', 'c.test.ts')],
    ['two things at once', [...marked({ 'a.test.ts': 'm1' }), ...marked({ 'a.test.ts': 'm2' })]],
  ])('may also be %s', (_, now) => {
    const { next } = loopAfter(red, ...allowedOne(both), ...claimsWith(now, 't2'))
    expect(next).toMatchObject({ kind: 'prove', run: 'sealed', allowed: [] })
  })

  test('is tested again although git shows the same files', () => {
    const hidden = [...allowedOne(both), ...claimsWith(marked({ 'a.test.ts': 'm2', 'b.test.ts': 'm1' }), 't1')]
    expect(loopAfter(red, ...hidden).next).toMatchObject({ kind: 'prove', run: 'sealed', allowed: [] })
  })
})

describe('a loop of an older version, whose findings have no mark,', () => {
  const old = marked({ 'a.test.ts': undefined, 'b.test.ts': undefined })

  test('is replayed as it was', () => {
    const facts = [...allowedOne(old), ...claimsWith(marked({ 'a.test.ts': undefined }), 't2')]
    expect(loopAfter(red, ...facts).next).toMatchObject({ allowed: ['a.test.ts'] })
    expect(loopAfter(red, ...facts).tally.allowed).toEqual([{ path: 'a.test.ts', by: 'Ada' }])
  })

  test('asks again once marks are known', () => {
    const facts = [...allowedOne(old), ...claimsWith(marked({ 'a.test.ts': 'm1' }), 't2')]
    expect(loopAfter(red, ...facts).next).toMatchObject({ kind: 'prove', run: 'sealed', allowed: [] })
  })
})
