import { expect, test } from 'vitest'
import { ALLOW, type Fact, type Grade, type Loop, startLoop, type Turn, type Verdict } from '../../engine/loop.ts'
import {
  asks,
  cancel,
  checkedByTests,
  checks,
  claims,
  cooling,
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
import type { IterationRow } from '../../host/store.ts'
import { standingOf, timeOfDay } from '../../operations/standing.ts'
import { openScreen } from './screen.test-support.ts'
import {
  diffWords,
  eventSentence,
  iterationMark,
  iterationSentence,
  nextSentence,
  printEnding,
  settledOf,
} from './story.ts'

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

test.each<[what: string, turn: Turn, verdicts: Verdict[], grade: Grade | undefined, mark: string, sentence: string]>([
  ['work', turn(), [], undefined, '·', 'worked: I fixed the parser.'],
  ['silence', turn({ words: '' }), [], undefined, '·', 'worked, said nothing'],
  ['an unchecked claim', turn(clear), [], 'claimed', '✓', 'claimed done; there is no check'],
  ['an unclear claim', turn({ claim: { kind: 'weak' } }), [], undefined, '·', 'claimed done; asked for a clear claim'],
  ['a proof', turn(clear), [verdict('pass')], 'verified', '✓', 'claimed done; verified: npm test passes'],
  ['a proof without a claim', turn(), [verdict('pass')], 'verified', '✓', 'made no claim; verified: npm test passes'],
  ['work that broke nothing', turn(clear), [verdict('pass')], 'kept', '✓', 'claimed done; npm test passes'],
  ['a lie', turn(clear), [verdict('fail', 2)], undefined, '✗', 'claimed done; refused: npm test fails (2 failures)'],
  ['a failure', turn(), [verdict('fail')], undefined, '✗', 'not done yet: npm test fails'],
  ['a slow check', turn(), [verdict('timeout')], undefined, '✗', 'not done yet: npm test timed out'],
  ['a broken check', turn(), [verdict('broken')], undefined, '✗', 'not done yet: npm test cannot be started'],
  [
    'a stage',
    turn({ claim: { kind: 'clear', stage: 'API' } }),
    [verdict('pass')],
    undefined,
    '·',
    'claimed stage API done; npm test passes',
  ],
  ['a question', turn({ ask: { kind: 'question', words: 'Red?' } }), [], undefined, '·', 'asked: Red?'],
  ['a denial', turn({ ask: { kind: 'permission', words: 'rm' } }), [], undefined, '·', 'was denied permission: rm'],
  ['a crash', turn({ end: 'failed', words: 'Segmentation\nfault' }), [], undefined, '!', 'failed: Segmentation fault'],
  ['a limit', turn({ end: 'limited', words: 'Later.' }), [], undefined, '!', 'was rate-limited: Later.'],
])('an iteration with %s', (_, made, verdicts, grade, mark, sentence) => {
  expect(iterationMark({ turn: made, verdicts }, grade)).toBe(mark)
  expect(iterationSentence({ turn: made, verdicts }, grade)).toBe(sentence)
})

test('a claim whose checks are pending is not asked for again', () => {
  expect(iterationSentence({ turn: turn(clear), verdicts: [] }, undefined, true)).toBe('claimed done; not checked yet')
})

test('an iteration says why its claim is refused even though its checks pass', () => {
  const refused = {
    turn: turn(clear),
    verdicts: [verdict('pass')],
    refusal: 'refused: its proof is weaker than "tested"',
  }
  expect(iterationMark(refused, undefined)).toBe('✗')
  expect(iterationSentence(refused, undefined)).toBe('claimed done; refused: its proof is weaker than "tested"')
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
    'complete, proof: verified, after 1 iteration. `npm test` failed before the loop began and passes now.',
    'Details: ralph show a1',
  ],
  [
    'claimed',
    loopAfter(unchecked, works, claims('clear')),
    'complete, proof: claimed, after 2 iterations. There is no check, so the agent is taken at its word.',
    'Next time: --verify "npm test"',
  ],
  [
    'halted',
    loopAfter(oneTurn, works),
    'halted (max-iterations) after 1 iteration. Reached the limit of 1 iteration.',
    'Resume: ralph resume a1 --max-iterations 11 · Details: ralph show a1',
  ],
  [
    'halted with failures that are open',
    loopAfter(specOf({ checks: ['npm test'] }, { iterations: 1 }), claims('clear'), checks('fail', 3)),
    'halted (max-iterations) after 1 iteration. Reached the limit of 1 iteration. At the last check, 3 failures remained.',
    'Resume: ralph resume a1 --max-iterations 11 · Details: ralph show a1',
  ],
  ['cancelled', loopAfter(unchecked, cancel), 'cancelled after 0 iterations. ', 'Details: ralph show a1'],
  ['paused', loopAfter(unchecked, pause), 'paused after 0 iterations.', 'Resume: ralph resume a1'],
  [
    'limited',
    loopAfter(unchecked, isLimitedUntil(360)),
    `waiting for the agent until ${timeOfDay(until)}, after 0 iterations.`,
    'Resume: ralph resume a1',
  ],
  [
    'cooling down',
    loopAfter(cooling(), ...times(3, idles)),
    `waiting after 3 iterations. 3 iterations in a row changed nothing. The breaker is open; one more try at ${timeOfDay(START + 30 * MINUTE)}.`,
    'Retry now: ralph resume a1',
  ],
  [
    'asking',
    loopAfter(unchecked, wantsPerson('Drop it?')),
    'needs input after 1 iteration. It asks: Drop it?',
    'Answer: ralph steer a1 "your answer"',
  ],
  ['under way', loopAfter(unchecked, works), 'running after 1 iteration in ', 'Watch it: ralph show a1 --follow'],
])('the last lines for a loop that is %s', (_, loop, sentence, hint) => {
  const ending = standingOf({ ...loop, id: 'a1' })
  expect(ending.sentence).toContain(sentence)
  expect(ending.hint).toBe(hint)
})

test('findings appear between the sentence and the hint', () => {
  const { context } = openScreen()
  const loop = { ...loopAfter(unchecked, claims('clear')), id: 'a1' }
  const noticed = {
    ...loop,
    tally: { ...loop.tally, findings: [{ kind: 'tests-deleted' as const, path: 'a.test.ts', words: 'was deleted' }] },
  }
  expect(printEnding(noticed, context.out).split('\n')).toEqual([
    '✓ complete, proof: claimed, after 1 iteration. There is no check, so the agent is taken at its word.',
    '  ! deleted tests: a.test.ts',
    '  Next time: --verify "npm test"',
    '',
  ])
})

test('an altered proof first names what it depends on', () => {
  const { context } = openScreen()
  const loop = loopAfter(unchecked, claims('clear'))
  const findings = [
    { kind: 'tests-changed' as const, path: 'a.test.ts', words: 'was changed' },
    { kind: 'tests-changed' as const, path: 'b.test.ts', words: 'was changed' },
  ]
  const altered: Loop = {
    ...loop,
    id: 'a1',
    tally: { ...loop.tally, findings },
    next: { kind: 'complete', proof: 'altered', sentence: 'The checks pass only with that.' },
  }
  expect(printEnding(altered, context.out).split('\n')).toEqual([
    '  ! changed tests: a.test.ts, b.test.ts',
    '✓ complete, proof: altered, after 1 iteration. The checks pass only with that.',
    '  Details: ralph show a1',
    '',
  ])
})

test('a loop from an older version of ralph says by which rule it was judged', () => {
  const next = { kind: 'complete', proof: 'verified', sentence: 'All checks passed.', older: true } as const
  const words = 'complete, proof: verified (by the rules of an older ralph)'
  expect(standingOf({ ...loopAfter(unchecked, works), next }).sentence).toBe(
    `${words}, after 1 iteration. All checks passed.`,
  )
  expect(nextSentence(next, START)).toBe(`It is ${words}. All checks passed.`)
})

test('a loop whose checks were bent twice says how to allow the changes', () => {
  const next = { kind: 'wait', why: 'person', question: 'Only a.test.js makes them pass.', about: ALLOW } as const
  expect(standingOf({ ...loopAfter(unchecked, works), id: 'a1', next })).toEqual({
    kind: 'asks',
    sentence: 'needs input after 1 iteration. Only a.test.js makes them pass.',
    hint: 'Allow it: ralph allow a1 · or say what to do instead: ralph steer a1 "…"',
  })
})

test('the baseline is reported as the result before any work', () => {
  const { next } = startLoop('a1', checkedByTests, { at: START })
  expect(eventSentence(factOf(checks('fail', 2)), next)).toBe(
    'Before any work, ralph checked: npm test fails (2 failures).',
  )
})

function factOf(happening: Happening): Fact {
  return typeof happening === 'function' ? happening(loopAfter(checkedByTests)) : happening
}

test.each<[fact: Happening, sentence: string]>([
  [idles, 'The agent worked. "I looked around."'],
  [claims('clear', 'API'), 'The agent claimed stage API.'],
  [claims('weak'), 'The agent hinted that it is done.'],
  [asks('Red?'), 'The agent asked: Red?'],
  [isDenied('Bash(rm)'), 'The agent was denied permission: Bash(rm).'],
  [crashes('Boom'), 'The agent failed: Boom.'],
  [checks('fail', 1), 'ralph checked: npm test fails (1 failure).'],
  [
    { kind: 'proved', at: START, run: 'sealed', ran: [{ check: 'npm test', result: 'fail', failures: 2 }] },
    'ralph tried the current work with the original tests and configuration: npm test fails (2 failures).',
  ],
  [
    { kind: 'proved', at: START, run: 'start', ran: [], why: 'there is no git repository' },
    'ralph tried the original files, but could not: there is no git repository.',
  ],
  [woke, 'The wait ended.'],
  [lost, 'It was interrupted; this does not count as an iteration.'],
  [{ kind: 'restored', at: START }, 'The files were restored.'],
  [{ kind: 'restored', at: START, trouble: 'git is away' }, 'The files could not be restored: git is away.'],
  [say('use sqlite'), 'said: "use sqlite"'],
  [setLimits({ iterations: 5 }), 'changed the limits.'],
  [cancel, 'cancelled it.'],
  [pause, 'paused it.'],
  [resume, 'resumed it.'],
])('the sentence for %j is: %s', (happening, sentence) => {
  expect(eventSentence(factOf(happening))).toContain(sentence)
})

test('a cooldown is described from the opened breaker to the end of the loop', () => {
  const story = [...times(3, crashes('Boom')), woke, crashes('Boom'), resume]
  const [, , opened, woken, halted] = story.map((_, index) => loopAfter(cooling(), ...story.slice(0, index + 1)).next)
  if (!opened || !woken || !halted) throw new Error('the story has five facts')
  expect(nextSentence(opened, START)).toBe(
    'The breaker opened (agent-failed): The agent failed 3 times in a row: Boom. One more try after 30:00.',
  )
  expect(eventSentence(woke, opened)).toBe('The cooldown ended.')
  expect(eventSentence(resume, opened)).toBe('Ada reset the breaker.')
  expect(nextSentence(woken, START)).toBe('Next: iteration 1 again, attempt 4.')
  expect(nextSentence(halted, START)).toBe(
    'It halted (agent-failed): The agent failed 3 times in a row: Boom. A retry after a cooldown did not help.',
  )
})

test('a wait is reported with its real length', () => {
  const { next } = loopAfter(unchecked, isLimitedUntil(6))
  const [early, late] = [{ ...resume, at: START + 1_000 } as Fact, { ...woke, at: START + 360_000 } as Fact]
  expect(eventSentence(early, next, START)).toBe('Ada resumed it after 0:01.')
  expect(eventSentence(late, next, START)).toBe('The wait ended after 6:00.')
  expect(eventSentence(early, loopAfter(unchecked, pause).next, START)).toBe('Ada resumed it.')
})

test.each([
  [asks('Tabs or blanks?'), 'asked: Tabs or blanks?'],
  [isDenied('Bash: rm x'), 'was denied permission: Bash: rm x'],
  [works, 'worked: '],
])('a stored iteration is described as it was: %#', (happening, sentence) => {
  const fact = factOf(happening)
  if (fact.kind !== 'turned') throw new Error('no turn')
  const { end, claim, words, ask } = fact.turn
  const row = { end, claim: claim.kind, words, ask, tokens: 0, verdicts: [] } as unknown as IterationRow
  expect(iterationSentence(settledOf(row, undefined), undefined)).toContain(sentence)
})

test.each<[loop: Loop, sentence: string]>([
  [loopAfter(unchecked, works), 'Next: iteration 2.'],
  [loopAfter(unchecked, crashes()), 'Next: iteration 1 again, attempt 2.'],
  [loopAfter(checkedByTests, claims('clear')), 'Next: run the checks (because of the claim).'],
  [loopAfter(checkedByTests, ...times(3, idles)), 'Next: run the checks (because the loop stalled).'],
  [loopAfter(unchecked, isLimitedUntil(6)), 'Next: wait, at most 6:00.'],
  [loopAfter(unchecked, wantsPerson('Drop it?')), 'It is waiting for you: Drop it?'],
  [
    loopAfter(checkedByTests, claims('clear'), checks('pass')),
    'It is complete, proof: verified. `npm test` failed before the loop began and passes now.',
  ],
  [
    loopAfter(unchecked, claims('clear')),
    'It is complete, proof: claimed. There is no check, so the agent is taken at its word.',
  ],
  [startLoop('a1', checkedByTests, { at: START }), 'Next: run the checks (before any work).'],
  [loopAfter(oneTurn, works), 'It halted (max-iterations): Reached the limit of 1 iteration.'],
])('what comes next: $next', (loop, sentence) => {
  expect(nextSentence(loop.next, START)).toBe(sentence)
})
