/** When experiments run, what they may cost, and what happens to a loop during one. */
import { describe, expect, test } from 'vitest'
import type { Fact, Loop, Next, Spec } from './loop.ts'
import {
  at,
  cancel,
  checked,
  checkedByTests,
  checksOn,
  claims,
  claimsIdly,
  feedbackAfter,
  type Happening,
  idles,
  loopAfter,
  lost,
  noticed,
  pause,
  play,
  proved,
  resume,
  START,
  say,
  setLimits,
  specOf,
  startedWith,
  times,
  told,
  turn,
  untried,
  woke,
  works,
} from './stories.test-support.ts'

const red: Loop = startedWith(checkedByTests, 'fail')
const unknown: Loop = startedWith(checkedByTests, 'timeout')
const findings = noticed('tests-changed', 'a.test.ts')
const done = [claims('clear'), checksOn('pass', { findings })]
const again = [claimsIdly('clear'), checksOn('pass', { findings })]

/** Refuses `kept`, so that a loop continues after its experiments. */
const strict: Loop = startedWith(specOf({ checks: ['npm test'], require: 'verified' }), 'pass')
const both = [proved('sealed', 'pass'), proved('reversed', 'pass')]

function budgetAt(start: Loop, ...story: Happening[]): number | undefined {
  const next: Next = loopAfter(start, ...story).next
  return next.kind === 'prove' ? next.ms : undefined
}

describe('experiments', () => {
  test('only run when the loop would complete otherwise', () => {
    expect(play(red, works, claims('clear'), checksOn('fail', { findings }))).toEqual(['turn 2', 'check', 'turn 3'])
    const green = startedWith(checkedByTests, 'pass')
    expect(play(green, claims('weak'), checksOn('pass', { findings }))).toEqual(['check', 'turn 2'])
  })

  test('are not repeated on the same files', () => {
    expect(play(strict, ...done, ...both, ...again).slice(-3)).toEqual(['turn 2', 'check', 'turn 3'])
  })

  test('are repeated on other files', () => {
    expect(play(strict, ...done, ...both, ...done).at(-1)).toBe('prove sealed')
  })

  test('are repeated if the means of proof differ, though the files are the same', () => {
    const more = [
      claimsIdly('clear'),
      checksOn('pass', { findings: [...findings, ...noticed('means-changed', 'run.sh')] }),
    ]
    expect(play(strict, ...done, ...both, ...more).at(-1)).toBe('prove sealed')
  })

  test('are repeated if nobody saw what a turn did', () => {
    const unseen = [turn({ claim: { kind: 'clear' } }), checked([pass], findings)]
    expect(play(strict, ...done, ...both, ...unseen).at(-1)).toBe('prove sealed')
    const blind: Loop = { ...strict, tally: without(strict.tally, 'tree') }
    expect(play(blind, ...unseen, ...both, ...unseen).at(-1)).toBe('prove sealed')
  })

  test('are repeated for a new spec', () => {
    const asked: Fact = { at: START, kind: 'asked', spec: { ...strict.spec, protect: ['lib/**'] } }
    expect(play(strict, ...done, ...both, asked, ...again).at(-1)).toBe('prove sealed')
  })

  test('on the original files run once, whatever the agent does then', () => {
    const loop: Loop = { ...unknown, spec: { ...unknown.spec, require: 'verified' } }
    const plain = [claims('clear'), checksOn('pass')]
    const story = [...plain, proved('start', 'fail'), proved('control', 'fail'), ...plain]
    expect(play(loop, ...story)).toEqual(['check', 'prove start', 'prove control', 'turn 2', 'check', 'prove control'])
    expect(play(loop, ...story, proved('control', 'pass')).at(-1)).toBe('complete verified')
  })

  test('of a kind that was not requested change nothing', () => {
    const loop = loopAfter(red, ...done)
    expect(loopAfter(loop, proved('reversed', 'fail'))).toBe(loop)
    expect(loopAfter(red, proved('sealed', 'pass'))).toBe(red)
  })
})

const pass = { check: 'npm test', result: 'pass', tail: '' } as const

function without<Value extends object, Key extends keyof Value>(value: Value, key: Key): Omit<Value, Key> {
  const { [key]: _, ...rest } = value
  return rest
}

describe('the time of experiments', () => {
  const limited = (proofMinutes: number): Loop => {
    const spec: Spec = { ...checkedByTests, work: { ...checkedByTests.work, proofMinutes } }
    return startedWith(spec, 'fail')
  }

  test('is ten minutes, or twice what the checks take', () => {
    expect(budgetAt(red, ...done)).toBe(600_000)
    expect(budgetAt(red, claims('clear'), checksOn('pass', { findings, ms: 400_000 }))).toBe(800_000)
  })

  test('is the requested time', () => {
    expect(budgetAt(limited(3), ...done)).toBe(180_000)
    expect(budgetAt(limited(0), ...done)).toBe(0)
  })

  test('is shared by all of them, and never negative', () => {
    expect(budgetAt(limited(3), ...done, proved('sealed', 'pass', { ms: 60_000 }))).toBe(120_000)
    expect(budgetAt(limited(3), ...done, proved('sealed', 'pass', { ms: 999_999 }))).toBe(0)
  })

  test('used up lowers the grade, and the loop still completes', () => {
    expect(play(limited(0), ...done, untried('sealed', 'the time is used up')).at(-1)).toBe('complete altered')
  })
})

describe('during an experiment', () => {
  const start = loopAfter(red, ...done)
  const finish = [
    proved('sealed', 'pass'),
    proved('reversed', 'fail'),
    proved('control', 'pass'),
    proved('start', 'fail'),
  ]

  test.each<[what: string, facts: Happening[], asked: string]>([
    ['a pause is obeyed', [pause], 'wait paused'],
    ['the checks run again after a pause, because the files may have changed', [pause, resume], 'check'],
    ['a cancel ends it', [cancel], 'halt cancelled'],
    ['after a dead driver it runs again', [lost], 'prove sealed'],
    ['a look at the clock changes nothing', [at(9_999, woke)], 'prove sealed'],
    ['new limits change nothing', [setLimits({ iterations: 1, minutes: 1 })], 'prove sealed'],
    ['a new prompt changes nothing', [told({ kind: 'edit', prompt: 'Other.' })], 'prove sealed'],
    ['a new spec waits', [{ at: START, kind: 'asked', spec: specOf() }], 'prove sealed'],
    ['what a person says waits', [say('Hurry.')], 'prove sealed'],
    ['another claim changes nothing', [told({ kind: 'done' })], 'prove sealed'],
    ['running out of time halts the loop', [told({ kind: 'out-of-time' })], 'halt timeout'],
    ['an unrequested turn changes nothing', [works], 'prove sealed'],
    ['unrequested checks change nothing', [checksOn('fail')], 'prove sealed'],
  ])('%s', (_, facts, asked) => {
    expect(play(start, ...facts).at(-1)).toBe(asked)
  })

  test('done is done, even past the time limit', () => {
    const timed = startedWith(specOf({ checks: ['npm test'] }, { minutes: 5 }), 'fail')
    expect(play(timed, ...done, ...finish.map((fact) => at(60, fact))).at(-1)).toBe('complete verified')
  })

  test('a pause comes to the same end', () => {
    const story = [pause, resume, checksOn('pass', { findings }), ...finish]
    expect(play(start, ...story).at(-1)).toBe('complete verified')
    expect(play(start, pause, resume, checksOn('fail')).at(-1)).toBe('turn 2')
  })
})

describe('a loop that waits because its checks are bent', () => {
  const bent = [...done, proved('sealed', 'fail'), proved('control', 'pass'), proved('reversed', 'pass')]
  const waiting = loopAfter(red, ...bent, ...bent)

  test('continues with what a person says, and knows why it was refused', () => {
    expect(play(waiting, say('Put the tests back.'))).toEqual(['turn 3'])
    const words = feedbackAfter(waiting, say('Put the tests back.'))
    expect(words).toContain('Only your changes to a.test.ts make them pass')
    expect(words).toContain('A person says: Put the tests back.')
  })

  test('continues without an answer, and does not have to choose for itself', () => {
    expect(play(waiting, resume)).toEqual(['turn 3'])
    expect(feedbackAfter(waiting, resume)).toContain('Only your changes to a.test.ts make them pass')
    expect(feedbackAfter(waiting, resume)).not.toContain('Nobody is available')
  })

  test('waits again if it is bent again, and completes if not', () => {
    expect(play(waiting, resume, ...bent).at(-1)).toBe('wait person')
    expect(play(waiting, resume, claims('clear'), checksOn('pass')).at(-1)).toBe('complete verified')
  })

  test.each<[what: string, facts: Happening[], asked: string]>([
    ['is cancelled', [cancel], 'halt cancelled'],
    ['is paused and waits again', [pause, resume], 'wait person'],
    ['is not woken by the clock', [at(9_999, woke)], 'wait person'],
    ['is not done because somebody says so', [told({ kind: 'done' })], 'wait person'],
    [
      'ends if no turn is left and a person only speaks',
      [setLimits({ iterations: 2 }), say('Go on.')],
      'halt max-iterations',
    ],
  ])('%s', (_, facts, asked) => {
    expect(play(waiting, ...facts).at(-1)).toBe(asked)
  })

  test('does not return to that state as its best', () => {
    const best = startedWith(specOf({ checks: ['npm test'], onHalt: 'best' }, { iterations: 2 }), 'fail')
    expect(play(best, ...bent, works, checksOn('fail')).at(-1)).toBe('restore 2 max-iterations')
    expect(play(best, ...bent, ...bent, cancel).at(-1)).toBe('halt cancelled')
  })

  test('stops its clock', () => {
    const timed = startedWith(specOf({ checks: ['npm test'] }, { minutes: 30 }), 'fail')
    expect(play(timed, ...bent, ...bent, at(600, say('Go on.'))).at(-1)).toBe('turn 3')
  })

  test('halts for its own reason if it stalls first', () => {
    const story = [...bent, ...times(2, idles), claimsIdly('none'), checksOn('fail', { findings })]
    expect(play(red, ...story).at(-1)).toBe('halt no-progress')
  })
})
