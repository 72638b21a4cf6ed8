/** How strong the proof of a loop is whose checks pass: grades, experiments, and refused claims. */
import { describe, expect, test } from 'vitest'
import type { Finding, Loop, Spec, Verdict } from './loop.ts'
import {
  allow,
  checkedByTests,
  checksOn,
  claims,
  claimsIdly,
  feedbackAfter,
  type Happening,
  loopAfter,
  nameOf,
  noticed,
  play,
  proved,
  START,
  sentenceAfter,
  specOf,
  startedWith,
  times,
  untried,
} from './stories.test-support.ts'

const red: Loop = startedWith(checkedByTests, 'fail')
const green: Loop = startedWith(checkedByTests, 'pass')
const unknown: Loop = startedWith(checkedByTests, 'timeout')

/** A loop with this spec and this baseline. */
function begun(change: Partial<Spec>, before: Verdict['result'] = 'fail'): Loop {
  return startedWith(specOf({ checks: ['npm test'], ...change }), before)
}

const changedTests = noticed('tests-changed', 'a.test.ts')

/** The agent claims to be done, and the checks pass. */
function done(findings: Finding[] = [], tests?: number): Happening[] {
  return [claims('clear'), checksOn('pass', { findings, ...(tests === undefined ? {} : { tests }) })]
}

const changed = done(changedTests)
const bent = [...changed, proved('sealed', 'fail'), proved('control', 'pass'), proved('reversed', 'pass')]
const together = [...changed, proved('sealed', 'fail'), proved('control', 'pass'), proved('reversed', 'fail')]
const fine = [...changed, proved('sealed', 'pass'), proved('reversed', 'fail'), proved('control', 'pass')]
const confirmed = [...fine, proved('start', 'fail')]
const both = [...changed, proved('sealed', 'pass'), proved('reversed', 'pass')]

function endOf(start: Loop, facts: readonly Happening[]): string {
  return nameOf(loopAfter(start, ...facts).next)
}

type Case = [story: string, start: Loop, facts: Happening[], end: string]

describe('checks that pass with untouched means of proof are', () => {
  test.each<Case>([
    ['verified where one failed before', red, done(), 'complete verified'],
    ['kept where all passed before', green, done(), 'complete kept'],
    [
      'verified without a claim on the last turn',
      begun({}, 'fail'),
      [claims('weak'), checksOn('pass')],
      'complete verified',
    ],
    ['first tried on the original files if the baseline is unknown', unknown, done(), 'prove start'],
    ['kept if they pass on those', unknown, [...done(), proved('start', 'pass')], 'complete kept'],
    [
      'tried on the current files if they fail on those',
      unknown,
      [...done(), proved('start', 'fail')],
      'prove control',
    ],
    [
      'verified if they pass on the current files in the same place',
      unknown,
      [...done(), proved('start', 'fail'), proved('control', 'pass')],
      'complete verified',
    ],
    [
      'kept if they fail there too',
      unknown,
      [...done(), proved('start', 'fail'), proved('control', 'fail')],
      'complete kept',
    ],
    ['kept if the start cannot be tried', unknown, [...done(), untried('start')], 'complete kept'],
    ['kept if the start times out', unknown, [...done(), proved('start', 'timeout')], 'complete kept'],
    ['not tried with --proof off', begun({ proof: 'off' }, 'timeout'), done(), 'complete kept'],
    ['not tried with --proof seal', begun({ proof: 'seal' }, 'timeout'), done(), 'complete kept'],
    ['verified with --proof off', begun({ proof: 'off' }), done(), 'complete verified'],
    ['verified under --until, whatever the baseline', begun({ until: true }, 'timeout'), done(), 'complete verified'],
    ['tried at the start if the check could not even start', begun({}, 'broken'), done(), 'prove start'],
  ])('%s', (_, start, facts, end) => {
    expect(endOf(start, facts)).toBe(end)
  })
})

describe('checks that pass after a test was changed', () => {
  test.each<Case>([
    ['run sealed first', red, changed, 'prove sealed'],
    ['then reversed', red, [...changed, proved('sealed', 'pass')], 'prove reversed'],
    ['sealed and reversed, are tried at the start if they failed before', red, fine, 'prove start'],
    ['and fail there are verified', red, confirmed, 'complete verified'],
    ['and pass there are altered', red, [...fine, proved('start', 'pass')], 'complete altered'],
    ['and cannot be tried there are altered', red, [...fine, untried('start')], 'complete altered'],
    ['and time out there are altered', red, [...fine, proved('start', 'timeout')], 'complete altered'],
    ['sealed and reversed, are tested if they passed before', green, fine, 'complete tested'],
    ['and may have passed before are tried at the start last', unknown, fine, 'prove start'],
    ['and failed at the start are verified', unknown, [...fine, proved('start', 'fail')], 'complete verified'],
    ['and passed at the start are tested', unknown, [...fine, proved('start', 'pass')], 'complete tested'],
    ['and cannot be tried at the start are tested', unknown, [...fine, untried('start')], 'complete tested'],
    [
      'with the old sources too are kept if they failed before',
      red,
      [...both, proved('start', 'fail')],
      'complete kept',
    ],
    ['with the old sources too are kept if they passed before', green, both, 'complete kept'],
    ['and fail sealed call for a control', red, [...changed, proved('sealed', 'fail')], 'prove control'],
    [
      'and fail sealed where the current files fail too are altered',
      red,
      [...changed, proved('sealed', 'fail'), proved('control', 'fail')],
      'complete altered',
    ],
    [
      'and fail sealed without a possible control are altered',
      red,
      [...changed, proved('sealed', 'fail'), untried('control')],
      'complete altered',
    ],
    ['and cannot be run sealed are altered', red, [...changed, untried('sealed')], 'complete altered'],
    ['and time out sealed are altered', red, [...changed, proved('sealed', 'timeout')], 'complete altered'],
    ['and cannot start sealed count as failed', red, [...changed, proved('sealed', 'broken')], 'prove control'],
    ['and say nothing about one check are altered', red, [...changed, proved('sealed', {})], 'complete altered'],
    [
      'and cannot be reversed are kept',
      red,
      [...changed, proved('sealed', 'pass'), untried('reversed'), proved('start', 'fail')],
      'complete kept',
    ],
    [
      'and fail reversed where the current files fail too are kept',
      red,
      [
        ...changed,
        proved('sealed', 'pass'),
        proved('reversed', 'fail'),
        proved('control', 'fail'),
        proved('start', 'fail'),
      ],
      'complete kept',
    ],
    ['only because of that are refused', red, bent, 'turn 2'],
    ['only because of that are questioned if they passed before', green, bent, 'turn 2'],
    [
      'only because of that are altered if they passed before and the claim is repeated',
      green,
      [...bent, ...bent],
      'complete altered',
    ],
    ['together with the work are questioned', red, together, 'turn 2'],
    [
      'and may be bent are questioned if that cannot be tried',
      red,
      [...together.slice(0, -1), untried('reversed')],
      'turn 2',
    ],
    ['are altered with --proof off', begun({ proof: 'off' }), changed, 'complete altered'],
    [
      'are verified once sealed with --proof seal',
      begun({ proof: 'seal' }),
      [...changed, proved('sealed', 'pass'), proved('start', 'fail')],
      'complete verified',
    ],
    [
      'are kept once sealed with --proof seal if they passed before',
      begun({ proof: 'seal' }, 'pass'),
      [...changed, proved('sealed', 'pass')],
      'complete kept',
    ],
    ['are refused with --proof seal as well', begun({ proof: 'seal' }), bent, 'turn 2'],
    [
      'are verified once sealed under --until',
      begun({ until: true }),
      [...changed, proved('sealed', 'pass'), proved('start', 'fail')],
      'complete verified',
    ],
    ['are refused under --until as well', begun({ until: true }), bent, 'turn 2'],
  ])('%s', (_, start, facts, end) => {
    expect(endOf(start, facts)).toBe(end)
  })

  test.each(['means-changed', 'means-added', 'means-deleted', 'tests-deleted', 'tests-skipped'] as const)(
    'and %s is not a new test, so a reversed run that fails leaves it at kept',
    (kind) => {
      const facts = [...done(noticed(kind, 'x')), ...fine.slice(2)]
      expect(endOf(green, facts)).toBe('complete kept')
      expect(endOf(red, [...facts, proved('start', 'fail')])).toBe('complete verified')
    },
  )
})

describe('with two checks', () => {
  const two = (before: Verdict['result']) => begun({ checks: ['unit', 'lint'] }, before)
  const sealed = (unit: Verdict['result'], lint: Verdict['result']) => proved('sealed', { unit, lint })
  const reversed = (unit: Verdict['result'], lint: Verdict['result']) => proved('reversed', { unit, lint })
  const control = proved('control', 'pass')

  test.each<Case>([
    [
      'one bent refuses both',
      two('fail'),
      [...changed, sealed('pass', 'fail'), control, reversed('fail', 'pass')],
      'turn 2',
    ],
    [
      'one honest is enough',
      two('fail'),
      [...changed, sealed('pass', 'pass'), reversed('fail', 'pass'), control, proved('start', 'fail')],
      'complete verified',
    ],
    [
      'one that could not be sealed alters both',
      two('fail'),
      [...changed, sealed('pass', 'timeout')],
      'complete altered',
    ],
    [
      'one bent counts although the other could not be sealed',
      two('fail'),
      [...changed, sealed('timeout', 'fail'), control, reversed('fail', 'pass')],
      'turn 2',
    ],
    [
      'a control that fails for one leaves the other',
      two('fail'),
      [...changed, sealed('fail', 'fail'), proved('control', { unit: 'fail', lint: 'pass' }), reversed('pass', 'pass')],
      'turn 2',
    ],
  ])('%s', (_, start, facts, end) => {
    expect(endOf(start, facts)).toBe(end)
  })

  test('only the one that proves something is named', () => {
    const facts = [...changed, sealed('pass', 'pass'), reversed('fail', 'pass'), control, proved('start', 'fail')]
    expect(sentenceAfter(two('fail'), ...facts)).toMatch(/^`unit` failed before the loop began and passes now/)
  })

  test('without a claim, both must be verified', () => {
    const last = startedWith(specOf({ checks: ['unit', 'lint'] }, { iterations: 1 }), 'fail')
    const silent = [claims('none'), ...both.slice(1), proved('start', 'fail')]
    expect(endOf(last, silent)).toBe('halt max-iterations')
    expect(endOf(last, [...both, proved('start', 'fail')])).toBe('complete kept')
  })
})

describe('a check bent by its own tests', () => {
  test('is refused, and the files are named', () => {
    expect(feedbackAfter(red, ...bent)).toMatch(
      /^You said you were done, but you are not\.\n.*a\.test\.ts.*Revert those/,
    )
    expect(loopAfter(red, ...bent).tally).toMatchObject({ bent: 1, falseClaims: 1 })
  })

  test('is not a false claim if nothing was claimed', () => {
    const until = begun({ until: true })
    const silent = [claims('none'), ...bent.slice(1)]
    expect(feedbackAfter(until, ...silent)).not.toContain('You said')
    expect(loopAfter(until, ...silent).tally).toMatchObject({ bent: 1, falseClaims: 0 })
  })

  test('the second time waits for a person', () => {
    expect(loopAfter(red, ...bent, ...bent).next).toEqual({
      kind: 'wait',
      why: 'person',
      about: 'allow',
      question: "The checks pass only because of the agent's changes to a.test.ts.",
    })
  })

  test('is not done because its caller says so', () => {
    const done = { at: START, kind: 'told', by: 'the caller', order: { kind: 'done' } } as const
    expect(endOf(red, [...bent, ...bent, done])).toBe('wait person')
  })

  test('waits at once on the last turn', () => {
    expect(endOf(startedWith(specOf({ checks: ['npm test'] }, { iterations: 1 }), 'fail'), bent)).toBe('wait person')
  })

  test('is refused although something else cannot be seen', () => {
    const blinded = done([...changedTests, ...noticed('not-separable', 'lib.rs')])
    expect(endOf(red, [...blinded, ...bent.slice(2)])).toBe('turn 2')
  })
})

describe('a person who is asked to allow changed tests', () => {
  const paths = noticed('tests-changed', 'a.test.ts', 'b.test.ts')
  const twice = times(2, claims('clear'), checksOn('pass', { findings: paths }), ...bent.slice(2))
  const recheck = checksOn('pass', { findings: paths })

  test('can allow all of them: the checks and the sealed run repeat', () => {
    const facts = [...twice, allow(), recheck, proved('sealed', 'pass'), proved('start', 'fail')]
    expect(play(red, ...facts).slice(-5)).toEqual([
      'wait person',
      'check',
      'prove sealed',
      'prove start',
      'complete kept',
    ])
    expect(sentenceAfter(red, ...facts)).toMatch(/Changes to a\.test\.ts, b\.test\.ts were allowed by Ada\.$/)
  })

  test('can allow some: the experiment knows which', () => {
    const { next } = loopAfter(red, ...twice, allow('b.test.ts', 'never-named.ts'), recheck)
    expect(next).toMatchObject({ kind: 'prove', run: 'sealed', allowed: ['b.test.ts'] })
  })

  test('is asked again if the others are enough to bend it', () => {
    const { next } = loopAfter(red, ...twice, allow('b.test.ts'), recheck, proved('sealed', 'fail'))
    expect(next).toMatchObject({ kind: 'wait', about: 'allow', question: expect.stringContaining('to a.test.ts.') })
  })

  test('can leave a verified proof if the others are honest and the reversed run fails', () => {
    const honest = [...changed, proved('sealed', 'fail'), proved('control', 'pass'), proved('reversed', 'pass')]
    const facts = [...honest, ...honest, allow(), checksOn('pass', { findings: changedTests, tree: 'other' })]
    expect(play(red, ...facts, ...confirmed.slice(2)).at(-1)).toBe('complete verified')
  })

  test.each([{ until: true }, { proof: 'seal' as const }])(
    'gets no better proof than the table says with %o',
    (change) => {
      const facts = [...bent, ...bent, allow(), checksOn('pass', { findings: changedTests }), proved('sealed', 'pass')]
      expect(endOf(begun(change), [...facts, proved('start', 'fail')])).toBe('complete kept')
    },
  )

  test('allows what was named, not what cannot be seen', () => {
    const findings = [...changedTests, ...noticed('flaky', '')]
    const facts = times(2, claims('clear'), checksOn('pass', { findings }), ...bent.slice(2))
    const { tally } = loopAfter(red, ...facts, allow())
    expect(tally.allowed).toEqual([{ path: 'a.test.ts', by: 'Ada' }])
  })

  test('can change the files first: they are checked as they are now', () => {
    expect(play(red, ...twice, allow(), checksOn('fail')).at(-1)).toBe('turn 3')
    expect(play(red, ...twice, allow(), checksOn('pass', { tree: 'fixed by hand' })).at(-1)).toBe('complete verified')
  })

  test('has an effect only while the loop waits for that', () => {
    expect(loopAfter(red, allow('a.test.ts'))).toBe(red)
    expect(loopAfter(red, ...changed, allow()).tally.allowed).toBeUndefined()
  })
})

describe('tests that were changed together with the work', () => {
  test('are questioned once, and altered when claimed again', () => {
    expect(feedbackAfter(red, ...together)).toMatch(/only with your changes to a\.test\.ts.* say so again/)
    expect(endOf(red, [...together, ...together])).toBe('complete altered')
    expect(sentenceAfter(red, ...together, ...together)).toBe(
      "The checks pass only with this loop's changes to a.test.ts.",
    )
  })

  test('and are new are called so', () => {
    const added = [...done(noticed('tests-added', 'a.test.ts')), ...together.slice(2)]
    expect(feedbackAfter(red, ...added)).toMatch(/only with files that you added: a\.test\.ts\. /)
    expect(sentenceAfter(red, ...added, ...added)).toBe(
      'The checks pass only with files that this loop added: a.test.ts.',
    )
  })

  test('or deleted with it are no bent check if all passed before', () => {
    const deleted = (...more: string[]) => [
      ...done([...noticed('tests-deleted', 'a.test.ts'), ...noticed('means-changed', ...more)]),
      ...bent.slice(2),
    ]
    expect(feedbackAfter(green, ...deleted())).toMatch(/only with your changes to a\.test\.ts.* say so again/)
    expect(endOf(green, [...deleted(), ...deleted()])).toBe('complete altered')
    expect(endOf(red, [...deleted(), ...deleted()])).toBe('wait person')
  })

  test('are not questioned twice on the same files: nothing runs again', () => {
    const again = [claimsIdly('clear'), checksOn('pass', { findings: changedTests })]
    expect(play(red, ...together, ...again).slice(-2)).toEqual(['check', 'complete altered'])
  })

  test('are altered at once on the last turn', () => {
    expect(endOf(startedWith(specOf({ checks: ['npm test'] }, { iterations: 1 }), 'fail'), together)).toBe(
      'complete altered',
    )
  })

  test('are no longer an issue once restored', () => {
    expect(endOf(red, [...together, ...done()])).toBe('complete verified')
  })

  test('are never accepted without a claim', () => {
    const last = startedWith(specOf({ checks: ['npm test'] }, { iterations: 1 }), 'fail')
    expect(endOf(last, [claims('none'), ...together.slice(1)])).toBe('halt max-iterations')
  })
})

describe('what cannot be seen', () => {
  test.each(['unreadable', 'runner-changed', 'not-separable'] as const)('(%s) leaves it at altered', (kind) => {
    expect(endOf(red, done(noticed(kind, 'x')))).toBe('complete altered')
    expect(endOf(unknown, done(noticed(kind, 'x')))).toBe('complete altered')
    expect(endOf(begun({ until: true }), done(noticed(kind, 'x')))).toBe('complete altered')
    const facts = [...done([...noticed(kind, 'x'), ...changedTests]), proved('sealed', 'pass')]
    expect(endOf(red, facts)).toBe('complete altered')
  })

  test.each(['inherited', 'noted', 'flaky'] as const)('(%s) is nothing of that kind', (kind) => {
    expect(endOf(red, done(noticed(kind, 'x')))).toBe('complete verified')
    expect(endOf(green, done(noticed(kind, 'x')))).toBe('complete kept')
  })
})

describe('fewer tests than before', () => {
  const counted = (before: Verdict['result'], tests = 54): Loop => {
    const loop = loopAfter(red)
    return { ...loop, tally: { ...loop.tally, before: [{ check: 'npm test', result: before, tests }] } }
  }

  test.each<Case>([
    ['none at all is altered', counted('fail'), done([], 0), 'complete altered'],
    ['one less is altered', counted('pass'), done([], 53), 'complete altered'],
    ['an unknown number is altered', counted('fail'), done(), 'complete altered'],
    ['as many as before is fine', counted('fail'), done([], 54), 'complete verified'],
    ['more is fine', counted('pass'), done([], 60), 'complete kept'],
    [
      'in the plain run alone do not matter if tests were changed: the sealed run has its own',
      counted('fail'),
      [
        ...done(changedTests, 3),
        proved('sealed', 'pass', { tests: 54 }),
        proved('reversed', 'fail'),
        proved('control', 'pass'),
      ],
      'complete verified',
    ],
    [
      'in the sealed run is altered',
      counted('fail'),
      [
        ...done(changedTests, 54),
        proved('sealed', 'pass', { tests: 3 }),
        proved('reversed', 'fail'),
        proved('control', 'pass'),
      ],
      'complete altered',
    ],
    [
      'than at the start, run later, is altered',
      unknown,
      [...done([], 3), proved('start', 'pass', { tests: 54 })],
      'complete altered',
    ],
  ])('%s', (_, start, facts, end) => {
    expect(endOf(start, facts)).toBe(end)
  })

  test('are named', () => {
    expect(sentenceAfter(counted('fail'), ...done([], 0))).toBe(
      '`npm test` ran 54 tests before the loop began, but only 0 now.',
    )
    expect(sentenceAfter(counted('fail', 1), ...done())).toBe(
      '`npm test` ran 1 test before the loop began, but does not report how many now.',
    )
  })
})

describe('a required proof', () => {
  const strict = begun({ require: 'tested' }, 'pass')

  test('refuses a weaker one twice with advice, then halts', () => {
    expect(play(strict, ...times(3, ...done()))).toEqual([
      'check',
      'turn 2',
      'check',
      'turn 3',
      'check',
      'halt unproven',
    ])
    expect(feedbackAfter(strict, ...done())).toMatch(
      /^The checks pass, but the proof is only "kept" and this task requires "tested"\. .*Write a test that fails without your change and passes with it\.$/,
    )
    expect(sentenceAfter(strict, ...times(3, ...done()))).toMatch(
      /^The proof is "kept", but "tested" is required\. `npm test` passes as it did/,
    )
  })

  test.each<Case>([
    [
      'halts at once on the last turn',
      startedWith(specOf({ checks: ['npm test'], require: 'tested' }, { iterations: 1 }), 'pass'),
      done(),
      'halt unproven',
    ],
    ['is met by itself', strict, fine, 'complete tested'],
    ['is met by a better one', begun({ require: 'kept' }), done(), 'complete verified'],
    ['refuses what is altered', begun({ require: 'kept', proof: 'off' }), changed, 'turn 2'],
    [
      'refuses what was changed together, once confirmed',
      begun({ require: 'kept' }),
      [...together, ...together],
      'turn 3',
    ],
    ['refuses a mere claim', { ...begun({}), spec: specOf({ require: 'kept' }) }, [claims('clear')], 'turn 2'],
  ])('%s', (_, start, facts, end) => {
    expect(endOf(start, facts)).toBe(end)
  })

  test('says what to restore', () => {
    expect(feedbackAfter(begun({ require: 'kept', proof: 'off' }), ...changed)).toMatch(
      /This loop changed a\.test\.ts\. .* experiments are off \(--proof off\)\. Restore the tests and configuration that you changed/,
    )
  })
})

describe('a claim that does not count yet', () => {
  test('is answered if green checks prove nothing new', () => {
    expect(feedbackAfter(green, claimsIdly('clear'), checksOn('pass'))).toBe(
      'You said you were done, but nothing has changed. If that is right, say so again.',
    )
    expect(feedbackAfter(green, claims('weak'), checksOn('pass'))).toMatch(/^If you are done, put <promise>COMPLETE/)
  })

  test('is answered if experiments leave only the claim', () => {
    const weak = [claims('weak'), ...both.slice(1), proved('start', 'fail')]
    expect(feedbackAfter(red, ...weak)).toMatch(/^If you are done, put <promise>COMPLETE/)
    expect(endOf(red, [...weak, ...weak])).toBe('complete kept')
  })
})

describe('the sentence of a grade', () => {
  test.each<Case>([
    ['verified', red, done(), '`npm test` failed before the loop began and passes now.'],
    [
      'verified, sealed',
      red,
      confirmed,
      '`npm test` failed before the loop began and passes now, even with the original tests and configuration.',
    ],
    [
      'tested',
      green,
      fine,
      "This loop's tests fail without its work. The checks also passed before; the only evidence that the task is done is the agent's claim.",
    ],
    [
      'kept',
      green,
      done(),
      "`npm test` passes as it did before, so nothing broke; the only evidence that the task is done is the agent's claim.",
    ],
    [
      'kept, unknown',
      unknown,
      [...done(), untried('start')],
      "`npm test` passes, but may have passed before; the only evidence that the task is done is the agent's claim.",
    ],
    [
      'kept, though red before',
      red,
      [...both, proved('start', 'fail')],
      "`npm test` failed before the loop began and passes now, but the changed tests or configuration may be the only reason, so this proves nothing. This loop's tests also pass without its work.",
    ],
    ['claimed', { ...red, spec: specOf() }, [claims('clear')], 'There is no check, so the agent is taken at its word.'],
    [
      'altered',
      red,
      [...changed, untried('sealed', 'no git')],
      'This loop changed a.test.ts. The checks could not be run with the original tests and configuration: no git.',
    ],
    [
      'altered, no control',
      red,
      [...changed, proved('sealed', 'fail'), proved('control', 'fail')],
      'This loop changed a.test.ts. The checks could not be run with the original tests and configuration: `npm test` also fails in a clean copy of the current files; it may need files that git ignores.',
    ],
    [
      'altered, slow',
      red,
      [...changed, proved('sealed', 'timeout')],
      'This loop changed a.test.ts. The checks could not be run with the original tests and configuration: a check timed out there.',
    ],
    [
      'altered, unseen',
      red,
      done([{ kind: 'unreadable', path: '', words: 'git cannot be read' }]),
      'It is unknown whether the tests were changed: git cannot be read.',
    ],
  ])('%s', (_, start, facts, sentence) => {
    expect(sentenceAfter(start, ...facts)).toBe(sentence)
  })

  test('tested, with an unknown baseline', () => {
    expect(sentenceAfter(unknown, ...fine, untried('start'))).toContain('The checks may also have passed before;')
  })

  test('tested, though only by something that cannot be loaded', () => {
    const facts = [
      ...changed,
      proved('sealed', 'pass'),
      proved('reversed', 'fail', { red: 'load' }),
      proved('control', 'pass'),
    ]
    expect(sentenceAfter(green, ...facts)).toMatch(
      /^This loop's tests fail without its work, though only because something they load is missing\./,
    )
  })

  test('names five files and counts the rest', () => {
    const many = noticed('tests-changed', ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `${name}.ts`))
    expect(sentenceAfter(red, ...done(many), untried('sealed'))).toMatch(
      /^This loop changed a\.ts, b\.ts, c\.ts, d\.ts, e\.ts and 2 other files\./,
    )
  })
})
