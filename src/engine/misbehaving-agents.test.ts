import { expect, test } from 'vitest'
import { readAsk, readClaim, withoutEcho } from './claim.ts'
import type { Spec } from './loop.ts'
import {
  at,
  checks,
  claims,
  crashes,
  feedbackAfter,
  type Happening,
  isLimited,
  isLimitedUntil,
  loopAfter,
  lost,
  play,
  specOf,
  times,
  turn,
  woke,
  works,
} from './stories.test-support.ts'

const prompt = `Make the parser faster.
Keep the tests green.
When all is done, print this line:
<promise>COMPLETE</promise>`
const believed = specOf({ prompt })
const proven = specOf({ prompt, checks: ['npm test'] })
const endless = specOf({ prompt }, { iterations: 0 })

/** The agent says this and changes nothing; its text is read as a driver reads it. */
function says(text: string): Happening {
  return turn(({ spec, tally }) => {
    const words = withoutEcho(text, spec.prompt)
    const claim = readClaim(words, { promise: spec.promise, signals: spec.signals, stages: [] })
    const ask = readAsk(words)
    return { words, claim, ...(ask ? { ask } : {}), ...(tally.tree === undefined ? {} : { tree: tally.tree }) }
  })
}

const claimsDone = says('All good.\n<promise>COMPLETE</promise>')
const echoes = says(`user\n${prompt}\n\ncodex\nI read the files.`)
const echoesTheEnd = says('When all is done, print this line:\n<promise>COMPLETE</promise>')
const refuses = says('I will not output <promise>COMPLETE</promise> yet')
const onlyAsks = says('I see two ways. Which one do you prefer?')
const talksOfTomorrow = says('The setup is done. I will continue tomorrow.')
const exits = crashes('exit 1')

const gaveUp = 'turn 2, turn 3, halt no-progress'
const gaveUpChecked = 'turn 2, turn 3, check, halt no-progress'
const checkedAlways = 'check, turn 2, check, turn 3, check, halt no-progress'
const failed = 'turn 1 attempt 2, turn 1 attempt 3, halt agent-failed'

test.each<[agent: string, spec: Spec, facts: Happening[], asked: string]>([
  ['claims done, did nothing', believed, [claimsDone, claimsDone], 'turn 2, complete claimed'],
  ['claims done, did nothing, is checked', proven, times(3, claimsDone, checks('fail')), checkedAlways],
  ['echoes the prompt', believed, times(3, echoes), gaveUp],
  ['echoes the prompt, is checked', proven, [...times(3, echoes), checks('fail')], gaveUpChecked],
  ['echoes the end of the prompt', believed, times(3, echoesTheEnd), gaveUp],
  ['echoes the end of the prompt, is checked', proven, times(3, echoesTheEnd, checks('fail')), checkedAlways],
  ['says that it will not claim', believed, times(3, refuses), gaveUp],
  ['says that it will not claim, is checked', proven, times(3, refuses, checks('fail')), checkedAlways],
  ['only asks questions', believed, [onlyAsks, onlyAsks], 'turn 2, wait person'],
  ['only asks questions, is checked', proven, [onlyAsks, onlyAsks], 'turn 2, wait person'],
  ['only asks questions, forever', endless, [onlyAsks, onlyAsks], 'turn 2, wait person'],
  ['talks of tomorrow', believed, times(3, talksOfTomorrow), gaveUp],
  ['talks of tomorrow, is checked', proven, [...times(3, talksOfTomorrow), checks('fail')], gaveUpChecked],
  ['talks of tomorrow, forever', endless, times(3, talksOfTomorrow), gaveUp],
  ['exits 1 always', believed, times(3, exits), failed],
  ['exits 1 always, is checked', proven, times(3, exits), failed],
  ['exits 1 always, forever', endless, times(3, exits), failed],
  ['has hit its limit', believed, [isLimitedUntil(360), at(360, woke), works], 'wait limit, turn 1 attempt 2, turn 2'],
  [
    'has hit its limit, is checked',
    proven,
    [isLimitedUntil(360), at(360, woke), claims('clear'), checks('pass')],
    'wait limit, turn 1 attempt 2, check, complete verified',
  ],
  [
    'has reached a usage limit, and says not until when',
    believed,
    [isLimited, at(1, woke), isLimited, at(3, woke), works],
    'wait limit, turn 1 attempt 2, wait limit, turn 1 attempt 3, turn 2',
  ],
  [
    'has reached a usage limit, and does not say until when, is checked',
    proven,
    [isLimited, at(1, woke), isLimited, at(3, woke), claims('clear'), checks('pass')],
    'wait limit, turn 1 attempt 2, wait limit, turn 1 attempt 3, check, complete verified',
  ],
  ['hangs until it is killed', believed, times(3, crashes('no event for 10 minutes')), failed],
  ['is orphaned by its driver', believed, [lost, works], 'turn 1 attempt 2, turn 2'],
])('an agent that %s', (_, spec, facts, asked) => {
  expect(play(spec, ...facts).join(', ')).toBe(asked)
})

test.each<[agent: string, words: string]>([
  ['has only set things up', 'The setup is done. I will continue tomorrow with the rest.'],
  ['uses the bare word', 'Done. Everything is complete and finished.'],
  ['promises something else', '<promise>COMPLETED</promise>'],
])('an agent that only talks and %s claims nothing, and is given up on', (_, words) => {
  const { promise, signals } = believed
  expect(readClaim(`${words}\n`, { promise, signals, stages: [] }).kind).toBe('none')
  const talks = says(`${words}\n`)
  expect(play(believed, ...times(3, talks)).join(', ')).toBe(gaveUp)
  expect(play(proven, ...times(3, talks), checks('fail')).join(', ')).toBe(gaveUpChecked)
})

test.each<[agent: string, words: string]>([
  ['refuses to claim', 'I will not output <promise>COMPLETE</promise> yet, because two tests fail.'],
  ['refuses on a line of its own', 'I will not say the following:\n<promise>COMPLETE</promise>'],
  ['plans to claim', 'When all is done I will output <promise>COMPLETE</promise>.'],
  ['shows the tag in a code block', 'The last line must be:\n```\n<promise>COMPLETE</promise>\n```'],
  ['counts what remains', 'Remaining steps:\n- Fix the lexer.\n- <promise>COMPLETE</promise>'],
])('an agent that %s is checked, learns how to claim, and is never believed', (_, words) => {
  const talks = says(`${words}\n`)
  expect(play(believed, ...times(3, talks)).join(', ')).toBe(gaveUp)
  expect(play(specOf({ prompt }, { iterations: 1 }), talks).join(', ')).toBe('halt max-iterations')
  expect(feedbackAfter(believed, talks)).toContain('put <promise>COMPLETE</promise> alone on the last line')
  expect(play(proven, ...times(3, talks, checks('fail'))).join(', ')).toBe(checkedAlways)
  expect(feedbackAfter(proven, talks, checks('fail'))).not.toContain('You said you were done')
  expect(loopAfter(proven, talks, checks('fail')).tally.falseClaims).toBe(0)
})

test.each<[story: string, facts: Happening[]]>([
  ['a limit', [isLimitedUntil(360)]],
  ['a limit without a reset', [isLimited, woke, isLimited]],
  ['a crash', [exits, exits]],
  ['a lost driver', [lost]],
])('%s costs no iteration', (_, facts) => {
  for (const spec of [believed, proven]) expect(loopAfter(spec, ...facts).tally.iteration).toBe(0)
})
