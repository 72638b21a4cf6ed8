import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Needs, needsKey, pickiestFirst, queueName, serves } from './needs.ts'

const anyNames = fc.array(fc.oneof(fc.constantFrom('claude', 'codex', 'gpu', 'a.b', 'a', 'b'), fc.string()), {
  maxLength: 6,
})
const anyNeeds = fc.record({ agents: anyNames, labels: anyNames })

test.each<[agents: string[], labels: string[], serves: boolean]>([
  [[], [], true],
  [['claude'], [], true],
  [['gemini', 'codex'], [], true],
  [['gemini'], [], false],
  [['claude'], ['gpu'], true],
  [['claude'], ['gpu', 'linux'], true],
  [['claude'], ['gpu', 'arm'], false],
  [[], ['arm'], false],
])('a worker with claude, codex, gpu and linux serves %j with %j: %s', (agents, labels, answer) => {
  expect(serves({ agents: ['claude', 'codex'], labels: ['linux', 'gpu'] }, { agents, labels })).toBe(answer)
})

test('a worker without an agent serves nobody', () => {
  expect(serves({ agents: [], labels: ['gpu'] }, { agents: [], labels: [] })).toBe(false)
})

test('the name of a queue can be read', () => {
  expect(queueName({ agents: ['codex', 'claude'], labels: ['gpu'] })).toMatch(/^task\/claude\.codex\/gpu-[0-9a-f]{10}$/)
  expect(queueName({ agents: [], labels: [] })).toMatch(/^task\/any-[0-9a-f]{10}$/)
})

test('the name of a queue is one that pg-boss takes', () => {
  fc.assert(
    fc.property(anyNeeds, (needs) => {
      expect(queueName(needs)).toMatch(/^[\w.\-/]{1,70}$/)
    }),
  )
})

test('the same needs have the same queue, in any order; others have another', () => {
  fc.assert(
    fc.property(anyNeeds, anyNeeds, ({ agents, labels }, other) => {
      const needs = { agents, labels }
      const turned = { agents: [...agents, ...agents].reverse(), labels: [...labels].reverse() }
      expect(queueName(turned)).toBe(queueName(needs))
      expect(queueName(other) === queueName(needs)).toBe(needsKey(other) === needsKey(needs))
    }),
  )
})

test('a worker looks first for what few others can run', () => {
  const anybody: Needs = { agents: [], labels: [] }
  const two = { agents: ['claude', 'codex'], labels: [] }
  const one = { agents: ['claude'], labels: [] }
  const gpu = { agents: [], labels: ['gpu'] }
  expect([anybody, two, one, gpu].sort(pickiestFirst)).toEqual([gpu, one, two, anybody])
})
