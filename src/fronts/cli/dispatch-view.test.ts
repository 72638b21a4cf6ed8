import { describe, expect, test } from 'vitest'
import type { Listed } from '../../operations/agents.ts'
import { agentJson, printAgents, printChange } from './dispatch-view.ts'
import { type Output, printable } from './text.ts'

const NOW = new Date(2026, 0, 5, 9, 30).getTime()
const KEY = `sk-ant-${'a'.repeat(20)}`

const loop: NonNullable<Listed['loop']> = {
  ...{ id: 'a1b2', iteration: 3, most: 10, last: 'Fixing test failures', breaker: 'closed' },
  ...{ costUsd: 0, tokens: 0, startedAt: NOW - 65_000, open: true },
}
const council: Listed = {
  ...{ number: 1, name: 'Council', agent: 'claude', dir: '/p', state: 'READY', since: NOW, words: '' },
  ...{ tells: 'hook', restarts: 0, queue: [], loop },
}
const research: Listed = {
  ...council,
  ...{ number: 2, name: 'Research', state: 'WORKING', words: 'Starting task' },
  loop: { ...loop, iteration: 1, last: 'Starting task' },
}

const out = (change: Partial<Output> = {}): Output => ({
  write: () => {},
  bell: () => {},
  color: false,
  live: false,
  columns: Number.POSITIVE_INFINITY,
  ...change,
})

const print = (agent: Partial<Listed>, output = out()) =>
  printAgents([{ ...council, ...agent }], { out: output, now: () => NOW })
    .split('\n')
    .slice(0, -1)

describe('the list of agents', () => {
  test('has the usual format', () => {
    const lines = printAgents([council, research], { out: out(), now: () => NOW }).split('\n')
    expect(lines.filter((line) => /^Agent|Ralph:/.test(line))).toEqual([
      'Agent 1 [Council] - READY',
      '  Ralph: iteration 3/10, last: "Fixing test failures"',
      'Agent 2 [Research] - WORKING',
      '  Ralph: iteration 1/10, last: "Starting task"',
    ])
  })

  test('shows details below each agent', () => {
    const { loop: _, ...idle } = council
    expect(printAgents([{ ...idle, queue: [{ number: 1, prompt: 'x' }] }], { out: out(), now: () => NOW })).toBe(
      'Agent 1 [Council] - READY\n  claude · 1 task queued\n',
    )
    expect(print({}).at(-1)).toBe('  claude · loop a1b2 · breaker closed · 1:05')
    const all: Partial<Listed> = {
      ...{ tells: 'screen', restarts: 2, queue: [1, 2].map((number) => ({ number, prompt: 'x' })) },
      ...{ loop: { ...loop, proof: 'verified', costUsd: 1.5, open: false }, state: 'DONE', since: NOW - 5_000 },
    }
    expect(print(all).at(-1)).toBe(
      '  claude · loop a1b2 · breaker closed · proof verified · $1.50 · 0:05 · 2 tasks queued · read from its screen · restarted 2 times',
    )
  })

  test('says why, and until when', () => {
    const until = new Date()
    until.setHours(23, 59, 58, 0)
    expect(print({ state: 'WAITING', words: 'Rate limit reached.', until: until.getTime() }).slice(0, 3)).toEqual([
      'Agent 1 [Council] - WAITING until 23:59:58',
      '  Ralph: iteration 3/10, last: "Fixing test failures"',
      '  Rate limit reached.',
    ])
  })

  test('shows iterations without a limit if there is none', () => {
    expect(print({ loop: { ...loop, most: 0 } })[1]).toBe('  Ralph: iteration 3, last: "Fixing test failures"')
  })

  test.each([20, 40, 79])('fits into a terminal of %i columns', (columns) => {
    const words = 'Look\u001b[2J at\nthis: 任务 '.repeat(20)
    const lines = print({ state: 'STUCK', words, loop: { ...loop, last: words } }, out({ columns })).slice(1)
    expect(lines).toHaveLength(3)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
    expect(lines.join('')).not.toContain('\u001b')
  })

  test('has colors if the output supports them', () => {
    expect(printable(print({ state: 'DONE' }, out({ color: true }))[0] ?? '')).toBe(
      'Agent 1 [Council] - \u001b[32mDONE\u001b[39m',
    )
  })
})

test.each<[change: Partial<Listed>, columns: number, line: string]>([
  [{ state: 'DONE', words: 'verified. It passes.' }, 200, '09:30:00  1 [Council] DONE  verified. It passes.'],
  [{ state: 'READY' }, 200, '09:30:00  1 [Council] READY'],
  [{ state: 'DONE', words: 'x'.repeat(99) }, 60, `09:30:00  1 [Council] DONE  ${'x'.repeat(30)}…`],
])('a change is one line: %j in %i columns', (change, columns, line) => {
  expect(printChange({ ...council, ...change }, out({ columns }), NOW)).toBe(line)
})

describe('for programs', () => {
  test('every field is present, even if it is unknown', () => {
    const { loop: _, ...idle } = council
    const known = agentJson({ ...council, until: NOW, loop: { ...loop, proof: 'kept' } })
    expect(Object.keys(agentJson(idle))).toEqual(Object.keys(known))
    expect(known).toMatchObject({
      ...{ type: 'agent', number: 1, name: 'Council', state: 'READY', until: new Date(NOW).toISOString() },
      ...{ loop_id: 'a1b2', iteration: 3, max_iterations: 10, last: 'Fixing test failures', proof: 'kept' },
    })
    expect(agentJson(idle)).toMatchObject({ loop_id: null, iteration: null, until: null, proof: null })
  })

  test('API keys are masked', () => {
    const text = `use ${KEY}`
    const told = { ...council, words: text, queue: [{ number: 1, prompt: text }], loop: { ...loop, last: text } }
    expect(JSON.stringify(agentJson(told))).not.toContain(KEY)
  })
})
