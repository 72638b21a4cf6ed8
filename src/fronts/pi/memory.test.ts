import { expect, test } from 'vitest'
import type { Message } from './host.ts'
import { leadWithSystem, remember } from './memory.ts'

const user: Message = { role: 'user', content: 'hello' }
const said: Message = { role: 'assistant', content: 'hi' }
const turn: Message = { role: 'custom', customType: 'ralph-loop', details: { kind: 'turn' }, content: 'Go on.' }
const report: Message = {
  role: 'custom',
  customType: 'ralph-loop',
  details: { kind: 'report' },
  content: 'It said so.',
}
const system: Message = { role: 'system', content: 'You are.' }

test('leaves a request with nothing to hide unchanged', () => {
  expect(remember([user, turn, said], false)).toBeUndefined()
  expect(remember([turn, said], true)).toBeUndefined()
})

test('never sends what was only for the user', () => {
  expect(remember([user, report, turn], false)).toEqual([user, turn])
})

test('a fresh turn remembers nothing before its own prompt except the system prompt', () => {
  expect(remember([system, user, turn, said, turn, said], true)).toEqual([system, turn, said])
})

test('keeps everything when the prompt is missing, as after a compaction in the middle of a turn', () => {
  expect(remember([user, said], true)).toBeUndefined()
})

test('adds the system prompt if Pi left it out', () => {
  const asked = () => 'You are.'
  expect(leadWithSystem([system, turn], asked)).toBeUndefined()
  expect(leadWithSystem([turn, { role: 'system', content: '', sections: {} }], asked)).toBeUndefined()
  const tools: Message = { role: 'system', content: '' }
  expect(leadWithSystem([tools, turn], asked)).toEqual([system, turn])
  expect(leadWithSystem([turn], asked)).toMatchObject([system, turn])
})
