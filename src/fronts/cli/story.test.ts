import { expect, test } from 'vitest'
import type { Fact, Loop, Turn, Verdict } from '../../engine/loop.ts'
import {
  asks,
  cancel,
  checkedByTests,
  checks,
  claims,
  crashes,
  type Happening,
  idles,
  isDenied,
  isLimitedUntil,
  loopAfter,
  lost,
  MINUTE,
  oneTurn,
  pause,
  resume,
  START,
  say,
  setLimits,
  specOf,
  times,
  unchecked,
  wantsPerson,
  woke,
  works,
} from '../../engine/stories.test-support.ts'
import { standingOf, timeOfDay } from '../../operations/standing.ts'
import { openScreen } from './screen.test-support.ts'
import { diffWords, eventSentence, iterationMark, iterationSentence, nextSentence, printEnding } from './story.ts'

const turn = (change: Partial<Turn> = {}): Turn => ({
  end: 'ok',
  claim: { kind: 'none' },
  words: 'First.\nI fixed the parser.\n',
  ranTests: false,
  tokens: 0,
  ...change,
})
const clear = { claim: { kind: 'clear' } } as const
const verdict = (result: Verdict['result'], failures?: number): Verdict => ({
  check: 'npm test',
  result,
  tail: '',
  ...(failures ? { failures } : {}),
})

test.each<[what: string, turn: Turn, verdicts: Verdict[], completed: boolean, mark: string, sentence: string]>([
  ['work', turn(), [], false, '·', 'worked: I fixed the parser.'],
  ['silence', turn({ words: '' }), [], false, '·', 'worked, without a word'],
  ['a claim nobody checks', turn(clear), [], true, '✓', 'said it is done; nothing to check it with'],
  ['an unclear claim', turn({ claim: { kind: 'weak' } }), [], false, '·', 'said it is done; asked to say it clearly'],
  ['a proof', turn(clear), [verdict('pass')], true, '✓', 'said it is done; proven: npm test passes'],
  ['a proof without a claim', turn(), [verdict('pass')], true, '✓', 'made no claim; proven: npm test passes'],
  ['a lie', turn(clear), [verdict('fail', 2)], false, '✗', 'said it is done; refused: npm test fails (2 failures)'],
  ['a failure', turn(), [verdict('fail')], false, '✗', 'not done yet: npm test fails'],
  ['a slow check', turn(), [verdict('timeout')], false, '✗', 'not done yet: npm test ran out of time'],
  ['a broken check', turn(), [verdict('broken')], false, '✗', 'not done yet: npm test cannot be started'],
  [
    'a stage',
    turn({ claim: { kind: 'clear', stage: 'API' } }),
    [verdict('pass')],
    false,
    '·',
    'said stage API is done; passed: npm test passes',
  ],
  ['a question', turn({ ask: { kind: 'question', words: 'Red?' } }), [], false, '·', 'asked: Red?'],
  ['a denial', turn({ ask: { kind: 'permission', words: 'rm' } }), [], false, '·', 'was denied: rm'],
  ['a crash', turn({ end: 'failed', words: 'Segmentation\nfault' }), [], false, '!', 'failed: Segmentation fault'],
  ['a limit', turn({ end: 'limited', words: 'Later.' }), [], false, '!', 'was limited: Later.'],
])('an iteration with %s', (_, made, verdicts, completed, mark, sentence) => {
  expect(iterationMark({ turn: made, verdicts }, completed)).toBe(mark)
  expect(iterationSentence({ turn: made, verdicts }, completed)).toBe(sentence)
})

test('a claim whose checks have not been run is not asked for again', () => {
  expect(iterationSentence({ turn: turn(clear), verdicts: [] }, false, true)).toBe('said it is done; not checked yet')
})

test.each([
  [undefined, ''],
  [{ files: 0, added: 0, removed: 0 }, ''],
  [{ files: 2, added: 12, removed: 3 }, '+12 −3'],
])('the diff %j is "%s"', (diff, words) => {
  expect(diffWords(diff)).toBe(words)
})

const until = START + 6 * 60 * MINUTE

test.each<[what: string, loop: Loop, sentence: string, hint: string]>([
  [
    'verified',
    loopAfter(checkedByTests, claims('clear'), checks('pass')),
    'complete, proof: verified, after 1 iteration.',
    'Its story: ralph show a1',
  ],
  [
    'claimed',
    loopAfter(unchecked, works, claims('clear')),
    "complete, proof: claimed, after 2 iterations. Nothing checked the agent's word.",
    'Next time: --verify "npm test"',
  ],
  [
    'halted',
    loopAfter(oneTurn, works),
    'halted (max-iterations) after 1 iteration. The only iteration is used.',
    'Its story: ralph show a1',
  ],
  [
    'halted with failures that are open',
    loopAfter(specOf({ checks: ['npm test'] }, { iterations: 1 }), claims('clear'), checks('fail', 3)),
    'halted (max-iterations) after 1 iteration. The only iteration is used. At the last check 3 failures were open.',
    'Its story: ralph show a1',
  ],
  ['cancelled', loopAfter(unchecked, cancel), 'cancelled after 0 iterations. ', 'Its story: ralph show a1'],
  ['paused', loopAfter(unchecked, pause), 'paused after 0 iterations.', 'Go on: ralph resume a1'],
  [
    'limited',
    loopAfter(unchecked, isLimitedUntil(360)),
    `waiting for the agent until ${timeOfDay(until)}, after 0 iterations.`,
    'Go on: ralph resume a1',
  ],
  [
    'asking',
    loopAfter(unchecked, wantsPerson('Drop it?')),
    'needs input after 1 iteration. It asks: Drop it?',
    'Answer and go on: ralph steer a1 "your answer"',
  ],
  ['under way', loopAfter(unchecked, works), 'under way after 1 iteration in ', 'Watch it: ralph show a1 --follow'],
])('a loop that is %s ends its story so', (_, loop, sentence, hint) => {
  const ending = standingOf({ ...loop, id: 'a1' })
  expect(ending.sentence).toContain(sentence)
  expect(ending.hint).toBe(hint)
})

test('what ralph noticed stands between the sentence and what to type', () => {
  const { context } = openScreen()
  const loop = { ...loopAfter(unchecked, claims('clear')), id: 'a1' }
  const noticed = { ...loop, tally: { ...loop.tally, findings: ['a test was deleted'] } }
  expect(printEnding(noticed, context.out).split('\n')).toEqual([
    "✓ complete, proof: claimed, after 1 iteration. Nothing checked the agent's word.",
    '  ! ralph noticed: a test was deleted',
    '  Next time: --verify "npm test"',
    '',
  ])
})

function factOf(happening: Happening): Fact {
  return typeof happening === 'function' ? happening(loopAfter(checkedByTests)) : happening
}

test.each<[fact: Happening, sentence: string]>([
  [idles, 'The agent worked. "I looked around."'],
  [claims('clear', 'API'), 'The agent claimed stage API.'],
  [claims('weak'), 'The agent hinted that it is done.'],
  [asks('Red?'), 'The agent asked: Red?'],
  [isDenied('Bash(rm)'), 'The agent was denied: Bash(rm).'],
  [crashes('Boom'), 'The agent failed: Boom.'],
  [checks('fail', 1), 'ralph checked: npm test fails (1 failure).'],
  [woke, 'The wait was over.'],
  [lost, 'It was interrupted; that costs no iteration.'],
  [{ kind: 'restored', at: START }, 'The files were put back.'],
  [{ kind: 'restored', at: START, trouble: 'git is away' }, 'The files could not be put back: git is away.'],
  [say('use sqlite'), 'said: "use sqlite"'],
  [setLimits({ iterations: 5 }), 'changed the limits.'],
  [cancel, 'cancelled it.'],
  [pause, 'paused it.'],
  [resume, 'told it to go on.'],
])('%j is told in a sentence: %s', (happening, sentence) => {
  expect(eventSentence(factOf(happening))).toContain(sentence)
})

test.each<[loop: Loop, sentence: string]>([
  [loopAfter(unchecked, works), 'Next: iteration 2.'],
  [loopAfter(unchecked, crashes()), 'Next: iteration 1 again, attempt 2.'],
  [loopAfter(checkedByTests, claims('clear')), 'So ralph ran the checks (because of the claim).'],
  [loopAfter(checkedByTests, ...times(3, idles)), 'So ralph ran the checks (because it had stalled).'],
  [loopAfter(unchecked, isLimitedUntil(6)), 'So ralph waited 6:00.'],
  [loopAfter(unchecked, wantsPerson('Drop it?')), 'So it waits for a person: Drop it?'],
  [loopAfter(checkedByTests, claims('clear'), checks('pass')), 'So it is complete, and proven.'],
  [loopAfter(unchecked, claims('clear')), 'So it is complete; there was nothing to prove it with.'],
  [loopAfter(oneTurn, works), 'So it halted (max-iterations): The only iteration is used.'],
])('why it went on: $next', (loop, sentence) => {
  expect(nextSentence(loop.next, START)).toBe(sentence)
})
