import { describe, expect, test } from 'vitest'
import { NOTHING, say } from '../../session/answer.ts'
import { HOSTS, type HostName } from '../../session/hosts.ts'
import type { From } from './payload.ts'
import type { Typed } from './prompt.ts'
import { printTyped } from './prompt-reply.ts'

const command: Typed = { kind: 'command', command: 'status', args: '' }
const other: Typed = { kind: 'prompt', words: 'x' }
const hosts = Object.keys(HOSTS) as HostName[]

function fromHost(host: HostName, more: Partial<From> = {}): From {
  return { host, shim: false, during: 'prompt', session: 's', dir: '/p', ...more }
}

function answerTo(host: HostName, answer: Parameters<typeof printTyped>[0], typed: Typed): unknown {
  const { out, error } = printTyped(answer, fromHost(host), typed)
  if (error !== undefined) return { error }
  return out?.startsWith('{') ? JSON.parse(out) : out
}

const begun = { prompt: 'Build it\n', ...say('loop started') }

describe('a command that needs no agent', () => {
  test.each<[host: HostName, answer: object]>([
    ['claude', { decision: 'block', reason: 'iteration 2 of 10' }],
    ['codex', { decision: 'block', reason: 'iteration 2 of 10' }],
    ['gemini', { decision: 'block', reason: 'iteration 2 of 10' }],
    ['qwen', { decision: 'block', reason: 'iteration 2 of 10' }],
    ['copilot', { handled: true, responseContent: 'iteration 2 of 10' }],
    ['cursor', { continue: false, user_message: 'iteration 2 of 10' }],
    ['droid', { error: 'iteration 2 of 10' }],
  ])('is answered in %s', (host, answer) => {
    expect(answerTo(host, say('iteration 2 of 10'), command)).toEqual(answer)
  })
})

describe('a turn that starts with what was typed', () => {
  const nested = (hookEventName: string) => ({
    hookSpecificOutput: { hookEventName, additionalContext: 'Build it\n' },
    systemMessage: 'loop started',
  })
  test.each<[host: HostName, answer: object | string | undefined]>([
    ['claude', nested('UserPromptSubmit')],
    ['codex', nested('UserPromptSubmit')],
    ['qwen', nested('UserPromptSubmit')],
    ['droid', 'loop started\n\nBuild it\n'],
    ['gemini', nested('BeforeAgent')],
    ['copilot', { additionalContext: 'Build it\n' }],
    ['cursor', undefined],
  ])('is passed to %s', (host, answer) => {
    expect(answerTo(host, begun, command)).toEqual(answer)
    expect(answerTo(host, begun, other)).toEqual(answer)
  })

  test('is a separate turn if only the end of one can start it', () => {
    const { out } = printTyped(begun, fromHost('droid', { during: 'stop' }), command)
    expect(JSON.parse(out ?? '')).toEqual({
      decision: 'block',
      reason: 'loop started\n\nBuild it\n',
      suppressOutput: true,
    })
  })
})

test.each(hosts)('something else that was typed in %s goes to the agent', (host) => {
  expect(answerTo(host, NOTHING, other)).toBeUndefined()
  expect(answerTo(host, NOTHING, command)).toBeUndefined()
  const own: Record<string, unknown> = { cursor: undefined, droid: 'paused' }
  expect(answerTo(host, say('paused'), other)).toEqual(host in own ? own[host] : { systemMessage: 'paused' })
})

test('a shim gets the neutral answer', () => {
  const { out } = printTyped(begun, fromHost('pi', { shim: true }), command)
  expect(JSON.parse(out ?? '')).toEqual({
    next: 'turn',
    prompt: 'Build it\n',
    fresh: false,
    status: 'none',
    show: [...begun.show],
  })
})
