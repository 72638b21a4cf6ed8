import { expect, test } from 'vitest'
import type { Message } from './host.ts'
import { openTurnRecord } from './turn-record.ts'

const usage = { input: 100, output: 20, cacheRead: 5, cacheWrite: 1, cost: { total: 0.01 } }
const says = (text: string, more: Partial<Message> = {}): Message => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
  usage,
  stopReason: 'stop',
  ...more,
})

function recordOf(...messages: Message[]) {
  const record = openTurnRecord()
  for (const message of messages) record.saw(message)
  return record
}

test('adds up tokens and cost, keeps the last words and the commands', () => {
  const calls = [
    { type: 'text', text: 'I look.' },
    { type: 'toolCall', name: 'bash', arguments: { command: 'npm test' } },
    { type: 'toolCall', name: 'read', arguments: { path: 'a' } },
  ]
  const record = recordOf(
    { role: 'user', content: 'hello', usage },
    says('', { content: calls, stopReason: 'toolUse' }),
    says('Done.\n<promise>DONE</promise>'),
  )
  expect(record.stop()).toEqual({
    last_assistant_message: 'Done.\n<promise>DONE</promise>',
    outcome: 'completed',
    tokens: 252,
    cost_usd: 0.02,
    ran: ['npm test'],
  })
  expect(record.costUsd()).toBe(0.02)
})

test.each<[story: string, last: Partial<Message>, outcome: string]>([
  ['a truncated answer is an answer', { stopReason: 'length' }, 'completed'],
  ['an error', { stopReason: 'error', errorMessage: '503: overloaded' }, 'error'],
  ['ESC while the model answers', { stopReason: 'aborted', errorMessage: 'Operation aborted' }, 'aborted'],
  ['ESC during a tool', { stopReason: 'error', errorMessage: 'This operation was aborted' }, 'aborted'],
])('%s', (_, last, outcome) => {
  expect(recordOf(says('x', last)).stop().outcome).toBe(outcome)
})

test("an error brings its message, and Pi's own outcome takes precedence", () => {
  const record = recordOf(says('half', { stopReason: 'error', errorMessage: '401: no key' }))
  expect(record.stop()).toMatchObject({
    outcome: 'error',
    error_message: '401: no key',
    last_assistant_message: 'half',
  })
  expect(record.stop('aborted')).toMatchObject({ outcome: 'aborted' })
  expect(record.stop('aborted')).not.toHaveProperty('error_message')
})

test('a turn without any answer is an error', () => {
  expect(openTurnRecord().stop()).toMatchObject({ outcome: 'error', error_message: expect.stringContaining('without') })
})
