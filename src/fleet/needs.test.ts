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

test('a worker without an agent serves no task', () => {
  expect(serves({ agents: [], labels: ['gpu'] }, { agents: [], labels: [] })).toBe(false)
})

test('queue names are readable', () => {
  expect(queueName({ agents: ['codex', 'claude'], labels: ['gpu'] })).toMatch(/^task\/claude\.codex\/gpu-[0-9a-f]{10}$/)
  expect(queueName({ agents: [], labels: [] })).toMatch(/^task\/any-[0-9a-f]{10}$/)
})

test('queue names are valid for pg-boss', () => {
  fc.assert(
    fc.property(anyNeeds, (needs) => {
      expect(queueName(needs)).toMatch(/^[\w.\-/]{1,70}$/)
    }),
  )
})

test('equal needs share a queue, in any order; different needs do not', () => {
  fc.assert(
    fc.property(anyNeeds, anyNeeds, ({ agents, labels }, other) => {
      const needs = { agents, labels }
      const turned = { agents: [...agents, ...agents].reverse(), labels: [...labels].reverse() }
      expect(queueName(turned)).toBe(queueName(needs))
      expect(queueName(other) === queueName(needs)).toBe(needsKey(other) === needsKey(needs))
    }),
  )
})

test('a worker first looks for tasks that few others can run', () => {
  const anybody: Needs = { agents: [], labels: [] }
  const two = { agents: ['claude', 'codex'], labels: [] }
  const one = { agents: ['claude'], labels: [] }
  const gpu = { agents: [], labels: ['gpu'] }
  expect([anybody, two, one, gpu].sort(pickiestFirst)).toEqual([gpu, one, two, anybody])
})
