import { describe, expect, test } from 'vitest'
import { NOBODY_AVAILABLE } from './feedback.ts'
import { ended, type Loop, type Spec, startLoop, statusOf } from './loop.ts'
import {
  asks,
  asksAfterWork,
  at,
  blind,
  cancel,
  checked,
  checkedByTests,
  checks,
  claims,
  claimsIdly,
  crashes,
  endless,
  everyNext,
  feedbackAfter,
  fillsContext,
  type Happening,
  halfAnHour,
  idles,
  isDenied,
  isLimited,
  isOverloaded,
  isUnusable,
  loopAfter,
  lost,
  MINUTE,
  oneTurn,
  pause,
  play,
  resume,
  runsTests,
  START,
  say,
  sentenceAfter,
  setLimits,
  specOf,
  threeTurns,
  times,
  turn,
  unchecked,
  uses,
  verdicts,
  wantsPerson,
  woke,
  works,
} from './stories.test-support.ts'

const oneCheckedTurn = specOf({ checks: ['npm test'] }, { iterations: 1 })
const checkedHalfHour = specOf({ checks: ['npm test'] }, { minutes: 30 })
const untilMade = specOf({ checks: ['make'], until: true })

type Story = [story: string, facts: Happening[], asked: string]
type StoryOf = [story: string, start: Spec | Loop, facts: Happening[], asked: string]

describe('a new loop', () => {
  test('asks for its first turn, fresh and with nothing to say', () => {
    const { next } = startLoop('L1', unchecked, { at: START })
    expect(next).toEqual({ kind: 'turn', iteration: 1, attempt: 1, fresh: true, feedback: [] })
  })

  test('knows its deadline when it has a time limit', () => {
    expect(startLoop('L1', halfAnHour, { at: START }).next).toMatchObject({ deadline: START + 30 * MINUTE })
  })

  test.each<[status: string, facts: Happening[]]>([
    ['running', []],
    ['running', [works]],
    ['verifying', [claims('clear')]],
    ['waiting', [isLimited]],
    ['waiting', [isOverloaded]],
    ['needs-input', [wantsPerson()]],
    ['paused', [pause]],
    ['completed', [claims('clear'), checks('pass')]],
    ['halted', [isUnusable('Please log in.')]],
    ['cancelled', [cancel]],
  ])('is %s', (status, facts) => {
    const loop = loopAfter(checkedByTests, ...facts)
    expect(statusOf(loop)).toBe(status)
    expect(ended(loop)).toBe(['completed', 'halted', 'cancelled'].includes(status))
  })
})

describe('an unrequested fact', () => {
  test.each<[end: string, facts: Happening[]]>([
    ['completed', [claims('clear'), checks('pass')]],
    ['halted', [isUnusable('Please log in.')]],
    ['cancelled', [cancel]],
  ])('has no effect on a loop that is %s', (_, facts) => {
    const loop = loopAfter(checkedByTests, ...facts)
    const anything = [works, claims('clear'), checks('pass'), woke, lost, cancel, pause, resume, say('Go on.')]
    for (const fact of [...anything, setLimits({ iterations: 99 })]) expect(loopAfter(loop, fact)).toBe(loop)
  })

  test.each<[fact: string, happening: Happening, heard: RegExp]>([
    ['a turn', works, /^turn/],
    ['a verdict', checks('pass'), /^check$/],
    ['a waking', woke, /^wait (limit|overload)$/],
  ])('%s moves only a loop that waits for it', (_, happening, heard) => {
    for (const [next, facts] of Object.entries(everyNext)) {
      const loop = loopAfter(checkedByTests, ...facts)
      expect([next, loopAfter(loop, happening) !== loop]).toEqual([next, heard.test(next)])
    }
  })
})

describe('rule 2: an agent that could not work', () => {
  test.each<Story>([
    ['a limit is waited for', [isLimited, woke], 'wait limit, turn 1 attempt 2'],
    ['an overload is waited for', [isOverloaded, woke], 'wait overload, turn 1 attempt 2'],
    ['a limit with a claim is a limit', [turn({ end: 'limited', claim: { kind: 'clear' } })], 'wait limit'],
    ['one that cannot be used halts the loop at once', [isUnusable('Please log in.')], 'halt agent-unusable'],
    [
      'one that is unusable claims nothing',
      [turn({ end: 'unusable', claim: { kind: 'clear' } })],
      'halt agent-unusable',
    ],
    ['a crash is tried again', [crashes()], 'turn 1 attempt 2'],
    ['a crash claims nothing', [turn({ end: 'failed', claim: { kind: 'clear' } })], 'turn 1 attempt 2'],
    ['a full context is an iteration', [fillsContext, fillsContext], 'turn 2, turn 3'],
    ['a full context claims nothing', [turn({ end: 'context-full', claim: { kind: 'clear' }, tree: 'x' })], 'turn 2'],
  ])('%s', (_, facts, asked) => {
    expect(play(unchecked, ...facts).join(', ')).toBe(asked)
  })

  test.each<StoryOf>([
    ['a limit on the last turn is waited for', oneTurn, [isLimited], 'wait limit'],
    ['a full context on the last turn ends the loop', oneTurn, [fillsContext], 'halt max-iterations'],
    ['a full context on the last turn is checked', oneCheckedTurn, [fillsContext], 'check'],
    ['one that is unusable is not checked', checkedByTests, [isUnusable('Bad flag.')], 'halt agent-unusable'],
    [
      'a limit costs no iteration',
      threeTurns,
      [isLimited, woke, works, works, works],
      'wait limit, turn 1 attempt 2, turn 2, turn 3, halt max-iterations',
    ],
  ])('%s', (_, start, facts, asked) => {
    expect(play(start, ...facts).join(', ')).toBe(asked)
  })

  test('a hundred limits in a row are enough', () => {
    expect(play(unchecked, ...times(99, isLimited, woke)).at(-1)).toBe('turn 1 attempt 100')
    expect(play(unchecked, ...times(99, isLimited, woke), isLimited).at(-1)).toBe('halt max-attempts')
  })

  test('is quoted when it is unusable', () => {
    const sentence = sentenceAfter(unchecked, isUnusable('Starting…\nInvalid API key · Please run /login\n'))
    expect(sentence).toBe('The agent is not usable: Invalid API key · Please run /login')
    expect(sentenceAfter(unchecked, isUnusable(''))).toBe('The agent is not usable: it said nothing.')
  })

  test('starts fresh after a full context, and reads so only then', () => {
    expect(loopAfter(unchecked, works).next).toMatchObject({ fresh: false })
    const full = loopAfter(unchecked, works, fillsContext)
    expect(full.next).toMatchObject({ fresh: true, iteration: 3 })
    expect(feedbackAfter(full)).toContain('you are starting fresh')
    expect(loopAfter(full, works).next).toMatchObject({ fresh: false, feedback: [] })
  })

  test.each<[fault: string, facts: Happening[]]>([
    ['a limit', [isLimited, woke]],
    ['an overload', [isOverloaded, woke]],
    ['a crash', [crashes()]],
    ['a loss', [lost]],
    ['a pause', [pause, resume]],
  ])('gets the same prompt again after %s, on the same iteration', (_, facts) => {
    const before = loopAfter(checkedByTests, claims('clear'), checks('fail', 2, 'expected 1, got 2'))
    expect(feedbackAfter(before)).toContain('expected 1, got 2')
    expect(feedbackAfter(before, ...facts)).toBe(feedbackAfter(before))
    expect(loopAfter(before, ...facts).tally.iteration).toBe(1)
    expect(loopAfter(unchecked, fillsContext, ...facts).next).toMatchObject({ fresh: true, iteration: 2 })
  })

  test('what it cost counts', () => {
    const cost = { tokens: 5, costUsd: 0.5 }
    const limited = turn({ end: 'limited', ...cost })
    const crashed = turn({ end: 'failed', ...cost })
    const { tally } = loopAfter(unchecked, limited, woke, crashed, { ...lost, ...cost }, uses(cost))
    expect([tally.iteration, tally.tokens, tally.costUsd]).toEqual([1, 20, 2])
  })
})

describe('rule 3: a claim is checked', () => {
  test('does not take the agent at its word', () => {
    expect(play(checkedByTests, claims('clear'), checks('fail'))).toEqual(['check', 'turn 2'])
  })

  const sameErrorIdly = turn({ error: 'E1', tree: 'tree 0' })

  test.each<[because: string, spec: Spec, facts: Happening[]]>([
    ['claim', checkedByTests, [claims('clear')]],
    ['claim', checkedByTests, [claims('weak')]],
    ['claim', checkedByTests, [claimsIdly('clear')]],
    ['claim', oneCheckedTurn, [claims('clear')]],
    ['until', specOf({ checks: ['npm test'], until: true }), [works]],
    ['until', specOf({ checks: ['npm test'], until: true }), [idles]],
    ['until', specOf({ checks: ['npm test'], until: true }), [fillsContext]],
    ['last-turn', oneCheckedTurn, [works]],
    ['last-turn', specOf({ checks: ['npm test'] }, { iterations: 3 }), times(3, works)],
    ['last-turn', checkedHalfHour, [at(30, works)]],
    ['last-turn', checkedHalfHour, [at(31, crashes())]],
    ['last-turn', specOf({ checks: ['npm test'] }, { tokens: 10 }), [uses({ tokens: 10 })]],
    ['last-turn', specOf({ checks: ['npm test'] }, { costUsd: 1 }), [uses({ costUsd: 1 })]],
    ['stalled', checkedByTests, times(3, idles)],
    ['stalled', checkedByTests, times(3, runsTests)],
    ['stalled', specOf({ checks: ['npm test'] }, { noProgress: 1 }), [idles]],
    ['stalled', specOf({ checks: ['npm test'] }, { noProgress: 9 }), times(3, runsTests)],
    ['stalled', specOf({ checks: ['npm test'] }, { sameError: 3 }), times(3, sameErrorIdly)],
  ])('asks for every check because of %s', (because, spec, facts) => {
    expect(loopAfter(spec, ...facts).next).toEqual({ kind: 'check', checks: ['npm test'], because })
  })

  test('names every check once', () => {
    const twice = specOf({ checks: ['npm test', 'npm run lint', 'npm test'] })
    expect(loopAfter(twice, claims('clear')).next).toMatchObject({ checks: ['npm test', 'npm run lint'] })
  })

  const claimsAndAsks = turn({ claim: { kind: 'clear' }, ask: { kind: 'person', words: 'More?' }, tree: 'x' })

  test.each<StoryOf>([
    ['a weak claim is enough', checkedByTests, [claims('weak'), checks('pass')], 'check, complete verified'],
    [
      'done on the last allowed turn is done',
      oneCheckedTurn,
      [claims('clear'), checks('pass')],
      'check, complete verified',
    ],
    ['done without a claim is done', oneCheckedTurn, [works, checks('pass')], 'check, complete verified'],
    ['done while asking is done', checkedByTests, [claimsAndAsks, checks('pass')], 'check, complete verified'],
    [
      'a crash at the deadline may be done',
      checkedHalfHour,
      [at(31, crashes()), checks('pass')],
      'check, complete verified',
    ],
    [
      'a stalled loop may be done',
      checkedByTests,
      [...times(3, idles), checks('pass')],
      'turn 2, turn 3, check, complete verified',
    ],
    [
      'a loop that only runs tests may be done',
      checkedByTests,
      [...times(3, runsTests), checks('pass')],
      'turn 2, turn 3, check, complete verified',
    ],
    [
      'until needs no claim',
      untilMade,
      [works, checks('fail'), works, checks('pass')],
      'check, turn 2, check, complete verified',
    ],
    ['a turn without a claim is not checked', checkedByTests, [works, asks(), isDenied()], 'turn 2, turn 3, turn 4'],
    ['a verdict that is missing proves nothing', checkedByTests, [claims('clear'), checked([])], 'check, turn 2'],
    [
      'a verdict on something else proves nothing',
      checkedByTests,
      [claims('clear'), verdicts({ true: 'pass' })],
      'check, turn 2',
    ],
    [
      'one of two is not all',
      specOf({ checks: ['a', 'b'] }),
      [claims('clear'), verdicts({ a: 'pass', b: 'fail' })],
      'check, turn 2',
    ],
    [
      'done at the deadline is done',
      checkedHalfHour,
      [at(31, claims('clear')), at(35, checks('pass'))],
      'check, complete verified',
    ],
  ])('%s', (_, start, facts, asked) => {
    expect(play(start, ...facts).join(', ')).toBe(asked)
  })
})

describe('a claim without checks', () => {
  const where = 'alone on the last line, after an empty line.'
  const claimsAndWants = turn({ claim: { kind: 'clear' }, ask: { kind: 'person', words: 'More?' }, tree: 'x' })

  test.each<Story>([
    ['a clear one completes', [claims('clear')], 'complete claimed'],
    ['a clear one that asks completes', [claimsAndWants], 'complete claimed'],
    ['a weak one is questioned', [claims('weak')], 'turn 2'],
    ['two weak ones in a row complete', [claims('weak'), claims('weak')], 'turn 2, complete claimed'],
    ['a weak one and a clear one complete', [claims('weak'), claims('clear')], 'turn 2, complete claimed'],
    ['two weak ones apart do not', [claims('weak'), works, claims('weak')], 'turn 2, turn 3, turn 4'],
    ['a mention is questioned every time', times(3, claims('mentioned')), 'turn 2, turn 3, turn 4'],
    [
      'a mention does not help a weak one',
      [claims('mentioned'), claims('stated'), claims('mentioned'), claims('stated')],
      'turn 2, turn 3, turn 4, turn 5',
    ],
    ['a phrase does not help a stated one', [claims('phrase'), claims('stated')], 'turn 2, turn 3'],
    ['a repeated phrase does not end work that continues', times(3, claims('phrase')), 'turn 2, turn 3, turn 4'],
    [
      'a phrase, said again without a change, completes',
      [claims('phrase'), claimsIdly('phrase')],
      'turn 2, complete claimed',
    ],
    ['a phrase in an untouched tree is questioned', [claimsIdly('phrase')], 'turn 2'],
    [
      'a phrase in an untouched tree, said again, completes',
      times(2, claimsIdly('phrase')),
      'turn 2, complete claimed',
    ],
    [
      'one weak claim in an unchanged tree does not complete',
      [works, idles, claimsIdly('stated')],
      'turn 2, turn 3, turn 4',
    ],
    [
      'a weak one of a loop stored before there were forms counts',
      [claims('weak'), claims('stated')],
      'turn 2, complete claimed',
    ],
    ['a tree that never changed supports nothing', [idles, claimsIdly('weak')], 'turn 2, turn 3'],
    ['an unchanged tree is no claim', [works, ...times(3, idles)], 'turn 2, turn 3, turn 4, halt no-progress'],
    ['a clear one in an untouched tree is weak', [claimsIdly('clear')], 'turn 2'],
    ['a clear one in an untouched, now unknown tree is weak', [turn({ claim: { kind: 'clear' } })], 'turn 2'],
    [
      'a clear one in an untouched tree, said again, completes',
      times(2, claimsIdly('clear')),
      'turn 2, complete claimed',
    ],
    ['a clear one in a tree changed before completes', [works, claimsIdly('clear')], 'turn 2, complete claimed'],
    [
      'a clear one beats the breaker',
      [works, idles, idles, claimsIdly('clear')],
      'turn 2, turn 3, turn 4, complete claimed',
    ],
    [
      'a crash between two weak ones does not separate them',
      [claims('weak'), crashes(), claims('weak')],
      'turn 2, turn 2 attempt 2, complete claimed',
    ],
    [
      'a limit between two weak ones does not separate them',
      [claims('weak'), isLimited, woke, claims('weak')],
      'turn 2, wait limit, turn 2 attempt 2, complete claimed',
    ],
  ])('%s', (_, facts, asked) => {
    expect(play(unchecked, ...facts).join(', ')).toBe(asked)
  })

  test.each<StoryOf>([
    [
      'a clear one on the last turn completes',
      threeTurns,
      [works, works, claims('clear')],
      'turn 2, turn 3, complete claimed',
    ],
    ['a clear one after the deadline completes', halfAnHour, [at(31, claims('clear'))], 'complete claimed'],
    [
      'a clear one for the last of the money completes',
      specOf({}, { costUsd: 1 }),
      [turn({ claim: { kind: 'clear' }, costUsd: 9, tree: 'x' })],
      'complete claimed',
    ],
    ['a stated one on the last turn completes', oneTurn, [claims('stated')], 'complete claimed'],
    ['a stated one for the last of the time completes', halfAnHour, [at(31, claims('stated'))], 'complete claimed'],
    ['a mention on the last turn is not enough', oneTurn, [claims('mentioned')], 'halt max-iterations'],
    ['a phrase on the last turn is not enough', oneTurn, [claims('phrase')], 'halt max-iterations'],
    [
      'a clear one in an untouched tree is not enough on the last turn',
      oneTurn,
      [claimsIdly('clear')],
      'halt max-iterations',
    ],
    ['a clear one in an unknown tree completes', blind(unchecked), [claimsIdly('clear')], 'complete claimed'],
    [
      'a clear one in a tree seen for the first time completes',
      blind(unchecked),
      [turn({ claim: { kind: 'clear' }, tree: 'first' })],
      'complete claimed',
    ],
  ])('%s', (_, start, facts, asked) => {
    expect(play(start, ...facts).join(', ')).toBe(asked)
  })

  test.each<[answer: string, spec: Spec, fact: Happening]>([
    [`If you are done, put <promise>COMPLETE</promise> ${where}`, unchecked, claims('weak')],
    [`If you are done, put <promise>COMPLETE</promise> ${where}`, unchecked, claimsIdly('mentioned')],
    [
      `If you are done, put TASK_COMPLETE ${where}`,
      specOf({ promise: '', signals: ['TASK_COMPLETE'] }),
      claims('phrase'),
    ],
    ['If you are done, say so again.', specOf({ promise: '' }), claims('weak')],
    [
      'You said you were done, but nothing has changed. If that is right, say so again.',
      unchecked,
      claimsIdly('clear'),
    ],
  ])('is answered: %s', (answer, spec, fact) => {
    expect(feedbackAfter(spec, fact)).toBe(answer)
  })
})

describe('rule 4: after a false claim the loop continues', () => {
  const claimsAndWants = turn({ claim: { kind: 'clear' }, ask: { kind: 'person', words: 'May I?' }, tree: 'x' })

  test.each<StoryOf>([
    [
      'and is checked again',
      checkedByTests,
      [claims('clear'), checks('fail'), claims('clear'), checks('pass')],
      'check, turn 2, check, complete verified',
    ],
    ['and silence is not checked', checkedByTests, [claims('clear'), checks('fail'), works], 'check, turn 2, turn 3'],
    ['but not past the last turn', oneCheckedTurn, [claims('clear'), checks('fail')], 'check, halt max-iterations'],
    [
      'but not past the deadline',
      checkedHalfHour,
      [at(29, claims('clear')), at(31, checks('fail'))],
      'check, halt timeout',
    ],
    ['but not past a question for a person', checkedByTests, [claimsAndWants, checks('fail')], 'check, wait person'],
  ])('%s', (_, start, facts, asked) => {
    expect(play(start, ...facts).join(', ')).toBe(asked)
  })

  test('and the agent reads everything that failed', () => {
    const three = specOf({ checks: ['npm test', 'npm run lint', 'npm run docs'] })
    const verdict = checked(
      [
        { check: 'npm test', result: 'fail', failures: 2, tail: 'expected 1, got 2\n' },
        { check: 'npm run lint', result: 'pass', tail: 'all clean' },
        { check: 'npm run docs', result: 'timeout', tail: 'still at it' },
      ],
      [{ kind: 'tests-deleted', path: 'parser.test.ts', words: 'was deleted' }],
    )
    expect(feedbackAfter(three, claims('clear'), verdict)).toBe(
      [
        'You said you were done, but you are not: ralph ran the checks itself, and they failed.',
        'The check `npm test` failed (2 failures). Its output ends with:\nexpected 1, got 2',
        'The check `npm run docs` timed out. Its output ends with:\nstill at it',
        'ralph noticed: parser.test.ts: was deleted',
      ].join('\n'),
    )
  })

  test('and an agent that claimed nothing gets no reproach', () => {
    const told = feedbackAfter(untilMade, works, checks('fail', undefined, 'no rule'))
    expect(told).toBe('The check `make` failed. Its output ends with:\nno rule')
  })

  test.each<[falseClaims: number, facts: Happening[]]>([
    [1, [claims('clear'), checks('fail')]],
    [1, [claims('weak'), checks('timeout')]],
    [2, [claims('weak'), checks('fail'), claims('clear'), checks('fail')]],
    [0, [claims('clear'), checks('pass')]],
    [1, [claims('clear'), verdicts({ 'npm test': 'fail', make: 'pass' })]],
    [0, [claims('clear'), checks('broken')]],
    [0, [...times(3, idles), checks('fail')]],
  ])('and is remembered: %i', (falseClaims, facts) => {
    expect(loopAfter(checkedByTests, ...facts).tally.falseClaims).toBe(falseClaims)
  })
})

describe('rule 5: a turn that asks a person', () => {
  test.each<Story>([
    ['a first question is answered in the next prompt', [asks()], 'turn 2'],
    ['a second one in a row waits for a person', [asks(), asks()], 'turn 2, wait person'],
    ['two different questions in a row wait as well', [asks('Rust?'), asks('Or Go?')], 'turn 2, wait person'],
    ['work between two questions is progress', [asks(), works, asks()], 'turn 2, turn 3, turn 4'],
    ['a question after work is a first one', [asks(), asksAfterWork(), asks()], 'turn 2, turn 3, wait person'],
    ['an explicit request waits at once', [wantsPerson()], 'wait person'],
    ['a request without words waits as well', [wantsPerson('')], 'wait person'],
    ['with a permission denied once the loop continues', [isDenied()], 'turn 2'],
    ['a permission denied twice waits', [isDenied(), isDenied()], 'turn 2, wait person'],
    ['a turn without a denial resets the count', [isDenied(), works, isDenied()], 'turn 2, turn 3, turn 4'],
    ['alternating denials and questions do not spin', [isDenied(), asks(), isDenied()], 'turn 2, turn 3, wait person'],
    ['alternating questions and denials do not spin', [asks(), isDenied(), asks()], 'turn 2, turn 3, wait person'],
    ['a crash does not separate two questions', [asks(), crashes(), asks()], 'turn 2, turn 2 attempt 2, wait person'],
    ['a loss does not separate two questions', [asks(), lost, asks()], 'turn 2, turn 2 attempt 2, wait person'],
    [
      'a limit does not separate two questions',
      [asks(), isLimited, woke, asks()],
      'turn 2, wait limit, turn 2 attempt 2, wait person',
    ],
    ['a question is never counted as idle', [idles, asks(), idles], 'turn 2, turn 3, turn 4'],
    [
      'a question does not reset the counts',
      [idles, asks(), idles, asks(), idles],
      'turn 2, turn 3, turn 4, turn 5, halt no-progress',
    ],
    ['a question comes before the breaker', [idles, idles, asks(), asks()], 'turn 2, turn 3, turn 4, wait person'],
    ['a wait for a person has no end of its own', [wantsPerson(), at(9_999, woke)], 'wait person, wait person'],
  ])('%s', (_, facts, asked) => {
    expect(play(unchecked, ...facts).join(', ')).toBe(asked)
  })

  test.each<StoryOf>([
    ['a request on the last turn waits', oneTurn, [wantsPerson()], 'wait person'],
    [
      'a request on the last turn is checked first',
      oneCheckedTurn,
      [wantsPerson(), checks('fail')],
      'check, wait person',
    ],
    ['a question comes before the limit', specOf({}, { iterations: 2 }), [asks(), asks()], 'turn 2, wait person'],
    [
      'questions after work continue up to the limit',
      threeTurns,
      times(3, asksAfterWork()),
      'turn 2, turn 3, halt max-iterations',
    ],
    [
      'new questions do not spin if the tree is unknown',
      blind(endless),
      [asks('Rust?'), asks('Go?')],
      'turn 2, wait person',
    ],
    [
      'questions and idle turns do not spin if the tree is unknown',
      blind(endless),
      times(4, idles, asks()),
      'turn 2, turn 3, turn 4, turn 5, turn 6, turn 7, halt no-progress, halt no-progress',
    ],
  ])('%s', (_, start, facts, asked) => {
    expect(play(start, ...facts).join(', ')).toBe(asked)
  })

  test.each<[question: string, facts: Happening[]]>([
    ['Or Go?', [asks('Rust?'), asks('Or Go?')]],
    ['May I delete it?', [wantsPerson('May I delete it?')]],
    ['The agent was denied permission twice: Bash(rm)', [isDenied('Bash(rm)'), isDenied('Bash(rm)')]],
  ])('carries the question: %s', (question, facts) => {
    expect(loopAfter(unchecked, ...facts).next).toEqual({ kind: 'wait', why: 'person', question })
  })

  test.each<[advice: string, facts: Happening[]]>([
    [NOBODY_AVAILABLE, [asks()]],
    [NOBODY_AVAILABLE, [asks(), asks(), resume]],
    ['Permission was denied: Bash(rm). Find a way without it.', [isDenied('Bash(rm)')]],
  ])('reads: %s', (advice, facts) => {
    expect(feedbackAfter(unchecked, ...facts)).toBe(advice)
  })
})

describe('rule 8: otherwise the loop continues', () => {
  test('with nothing to say when all is well', () => {
    const { next } = loopAfter(unchecked, works)
    expect(next).toEqual({ kind: 'turn', iteration: 2, attempt: 1, fresh: false, feedback: [] })
  })

  test("forgetting the last turn's feedback", () => {
    expect(feedbackAfter(checkedByTests, claims('clear'), checks('fail'), works)).toBe('')
  })
})

describe('a driver that is lost', () => {
  test.each<[next: string, then: string]>([
    ['turn 1', 'turn 1 attempt 2'],
    ['turn 2', 'turn 2 attempt 2'],
    ['turn 1 attempt 2', 'turn 1 attempt 3'],
    ['check', 'check'],
    ['wait limit', 'wait limit'],
    ['wait overload', 'wait overload'],
    ['wait person', 'wait person'],
    ['wait paused', 'wait paused'],
  ])('in %s finds %s', (next, then) => {
    const before = loopAfter(checkedByTests, ...(everyNext[next] ?? []))
    const found = loopAfter(before, lost)
    expect(play(before, lost)).toEqual([then])
    expect(found.tally.iteration).toBe(before.tally.iteration)
    if (before.next.kind !== 'turn') expect(found).toEqual(before)
  })

  test.each(Object.entries(everyNext))('in %s still counts its cost', (_, facts) => {
    const before = loopAfter(checkedByTests, ...facts)
    const { tally } = loopAfter(before, { ...lost, tokens: 7, costUsd: 0.5 })
    expect([tally.tokens, tally.costUsd]).toEqual([before.tally.tokens + 7, before.tally.costUsd + 0.5])
  })

  test('gets a hundred attempts at an iteration', () => {
    expect(play(unchecked, ...times(99, lost)).at(-1)).toBe('turn 1 attempt 100')
    expect(play(unchecked, ...times(100, lost)).at(-1)).toBe('halt max-attempts')
    expect(play(unchecked, ...times(99, lost), works, lost).at(-1)).toBe('turn 2 attempt 2')
  })
})
