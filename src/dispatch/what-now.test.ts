import { expect, test } from 'vitest'
import type { PaneFacts } from './pane-facts.ts'
import { type Act, whatNow } from './what-now.ts'

const MARK = { loop: 'a1', iteration: 2, attempt: 1 }
const BEFORE = { ...MARK, iteration: 1 }
const IDLE: PaneFacts = { up: true, dir: '/p' }
const sent = { mark: MARK, text: 'Fix it.', at: 1, times: 1 }

test.each<[story: string, facts: PaneFacts, act: Act]>([
  ['it was never started', {}, { kind: 'start' }],
  ['it is in another folder', { ...IDLE, dir: '/q' }, { kind: 'start' }],
  ['it has ended', { dir: '/p', ended: { code: 1 } }, { kind: 'start' }],
  ['its pane was closed', { dir: '/p', ended: { code: 129, closed: true } }, { kind: 'closed' }],
  ['it is starting', { dir: '/p' }, { kind: 'wait' }],
  ['it is idle', IDLE, { kind: 'send' }],
  ['it was given the previous turn', { ...IDLE, sent: { ...sent, mark: BEFORE } }, { kind: 'send' }],
  ['it was given another attempt', { ...IDLE, sent: { ...sent, mark: { ...MARK, attempt: 2 } } }, { kind: 'send' }],
  ['it was given this turn', { ...IDLE, sent }, { kind: 'sent' }],
  ['the prompt did not arrive', { ...IDLE, sent: { ...sent, stalled: true } }, { kind: 'wait' }],
  ['it is at it', { ...IDLE, sent, at: { kind: 'ours', mark: MARK } }, { kind: 'wait' }],
  ['it is working on what the user typed', { ...IDLE, at: { kind: 'theirs' }, typed: 'hello' }, { kind: 'wait' }],
  ['it has done what the user typed', { ...IDLE, typed: 'hello' }, { kind: 'typed' }],
  ['it asks', { ...IDLE, asks: '' }, { kind: 'wait' }],
  ['the turn has ended', { ...IDLE, over: { mark: MARK, outcome: 'aborted' } }, { kind: 'over', outcome: 'aborted' }],
  ['the previous turn has ended', { ...IDLE, over: { mark: BEFORE, outcome: 'aborted' } }, { kind: 'send' }],
  [
    'the turn had ended before its pane was closed',
    { dir: '/p', over: { mark: MARK, outcome: 'aborted' }, ended: { code: 129, closed: true } },
    { kind: 'over', outcome: 'aborted' },
  ],
])('%s', (_, facts, act) => {
  expect(whatNow(facts, MARK, '/p')).toEqual(act)
})
