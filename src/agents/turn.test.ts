import { describe, expect, test } from 'vitest'
import type { Turn } from '../engine/loop.ts'
import { maskSecrets } from '../formats/secrets.ts'
import type { Outcome } from './agent.ts'
import { type Seen, toTurn } from './turn.ts'

const seen: Seen = {
  prompt: 'Make it work.\n\nWhen it does, put `<promise>COMPLETE</promise>` on the last line.\n\nBe quick.',
  claimable: { promise: 'COMPLETE', signals: ['TASK_COMPLETE'], stages: [] },
  checks: ['./check.sh'],
  mask: maskSecrets,
}

function turn(change: Partial<Outcome>, more: Partial<Seen> = {}): Turn {
  const outcome: Outcome = { kind: 'ok', finalText: '', tokens: 0, denied: [], ran: [], ...change }
  return toTurn(outcome, { ...seen, ...more })
}

const CLAIM = 'Done.\n<promise>COMPLETE</promise>'

test.each<[kind: Outcome['kind'], end: Turn['end']]>([
  ['ok', 'ok'],
  ['rate-limit', 'limited'],
  ['quota', 'limited'],
  ['overloaded', 'overloaded'],
  ['auth', 'unusable'],
  ['config', 'unusable'],
  ['context', 'context-full'],
  ['refused', 'failed'],
  ['killed', 'failed'],
  ['crash', 'failed'],
  ['unknown', 'failed'],
])('an outcome of %s ends %s, and only a turn that worked can claim or ask', (kind, end) => {
  const made = turn({ kind, finalText: `${CLAIM}\n\nWhich one?`, message: 'why' })
  expect(made.end).toBe(end)
  expect(made.claim.kind === 'none').toBe(end !== 'ok')
  expect(made.ask === undefined).toBe(end !== 'ok')
  expect(made.words).toBe(end === 'ok' ? `${CLAIM}\n\nWhich one?` : 'why')
  expect(made.error === undefined).toBe(end !== 'failed')
})

describe('the words of a turn', () => {
  test('leave out what the agent repeats of its prompt', () => {
    const made = turn({ finalText: `${seen.prompt}\n\nI looked around.` })
    expect(made).toMatchObject({ claim: { kind: 'none' }, words: expect.stringMatching(/I looked around\.$/) })
    expect(made.words).not.toContain('Make it work.')
    expect(turn({ finalText: `${seen.prompt}\n\n${CLAIM}` }).claim).toEqual({ kind: 'clear' })
  })

  test('are cut, but their end is kept', () => {
    const { words } = turn({ finalText: `${'x'.repeat(100_000)} the end` })
    expect(words.length).toBeLessThanOrEqual(16_000)
    expect(words).toMatch(/x the end$/)
  })

  test('of a turn that failed silently are what remains', () => {
    expect(turn({ kind: 'crash', finalText: 'half' })).toMatchObject({ words: 'half', error: 'half' })
    expect(turn({ kind: 'crash' })).toMatchObject({ words: '', error: expect.stringMatching(/\S/) })
  })

  test('do not reveal a key', () => {
    const key = `sk-${'ant-'}Ab3dEf6hIj9lMn2pQr5t`
    const turns = [
      turn({ finalText: `The key is ${key}. Shall I use it?` }),
      turn({ finalText: `<ask>Is ${key} right?</ask>` }),
      turn({ denied: [`Bash(curl -H ${key})`] }),
      turn({ kind: 'crash', message: `bad key ${key}` }),
    ]
    expect(JSON.stringify(turns)).toContain('masked')
    expect(JSON.stringify(turns)).not.toContain(key)
  })

  test('make equal failures equal, whatever the time', () => {
    const errors = ['failed after 12.5 s at 2026-01-05T09:00:01Z', 'failed after 99 s at 2026-01-06T10:11:12Z']
    const [first, second] = errors.map((message) => turn({ kind: 'crash', message }).error)
    expect(first).toBe(second)
    expect(turn({ kind: 'crash', message: 'failed otherwise' }).error).not.toBe(first)
  })
})

describe('what a turn asks for', () => {
  test('is what it was denied, before any question', () => {
    expect(turn({ denied: ['Bash', 'Edit', 'Bash'], finalText: 'Which one?' }).ask).toEqual({
      kind: 'permission',
      words: 'Bash, Edit',
    })
  })

  test('is a question at its end, or an explicit request for a person', () => {
    expect(turn({ finalText: 'Which one?' }).ask).toEqual({ kind: 'question', words: 'Which one?' })
    expect(turn({ finalText: 'Hm.\n<ask>May I delete it?</ask>' }).ask).toEqual({
      kind: 'person',
      words: 'May I delete it?',
    })
    expect(turn({ finalText: 'I did it.' })).not.toHaveProperty('ask')
  })
})

describe('a turn ran tests', () => {
  test.each([
    ...['npm test', 'npm run test', 'npm run test:unit', 'pnpm test', 'yarn test --watch=false', 'bun test'],
    ...['npx vitest run', 'npx jest', 'pytest -x', 'python -m pytest', 'python3 -m unittest', 'node --test'],
    ...['cargo test', 'cargo nextest run', 'go test ./...', 'mvn -q verify', './gradlew clean test', 'make check'],
    ...['bundle exec rspec', 'cd app && npm test', './check.sh', ' ./check.sh '],
  ])('with %s', (command) => {
    expect(turn({ ran: ['ls', command] }).ranTests).toBe(true)
  })

  test.each([
    'ls',
    'npm install',
    'cat test.txt',
    'git status',
    'make',
    'cargo build',
    './check.sh.bak',
    'echo testing',
  ])('but not with %s', (command) => {
    expect(turn({ ran: [command] }).ranTests).toBe(false)
  })

  test('but not with nothing', () => {
    expect(turn({}).ranTests).toBe(false)
  })
})

describe('what a turn cost', () => {
  test('is what the agent reports', () => {
    expect(turn({ tokens: 12, costUsd: 0.5 })).toMatchObject({ tokens: 12, costUsd: 0.5 })
    expect(turn({ tokens: 12 })).not.toHaveProperty('costUsd')
    const usage = { input: 1, cached: 2, output: 3 }
    expect(turn({ tokens: 6, usage })).toMatchObject({ usage })
    expect(turn({ tokens: 6 })).not.toHaveProperty('usage')
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -3])('is nothing if it reports %d', (amount) => {
    const usage = { input: amount, cached: amount, output: 1.4 }
    expect(turn({ tokens: amount, costUsd: amount, usage })).toMatchObject({
      tokens: 0,
      costUsd: 0,
      usage: { input: 0, cached: 0, output: 1 },
    })
  })
})

test('a turn carries the tree and the reset, if known', () => {
  expect(turn({ kind: 'rate-limit', resetsAt: 5 }, { tree: 'tree 1' })).toMatchObject({ resetsAt: 5, tree: 'tree 1' })
  const blind = turn({})
  expect(blind).not.toHaveProperty('tree')
  expect(blind).not.toHaveProperty('resetsAt')
})

test('a failure reported by an agent that claims nothing is kept, if no check reports one', () => {
  const finalText = 'I tried.\n\nError: no such table: users'
  expect(turn({ finalText }, { checks: [] }).error).toContain('no such table')
  expect(turn({ finalText })).not.toHaveProperty('error')
  expect(turn({ finalText: `${finalText}\n\n${CLAIM}` }, { checks: [] })).not.toHaveProperty('error')
  expect(turn({ finalText: 'I tried.' }, { checks: [] })).not.toHaveProperty('error')
})
