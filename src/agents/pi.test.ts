import { describe, expect, test } from 'vitest'
import type { AgentEvent, Outcome, Request } from './agent.ts'
import { conformance, play as playScene, request } from './conformance.test-support.ts'
import { pi } from './pi.ts'

conformance(
  pi,
  {
    ok: 'ok',
    'promise-in-tool': 'ok',
    empty: 'ok',
    denied: 'ok',
    retried: 'ok',
    'max-tokens': 'unknown',
    refusal: 'refused',
    cut: 'overloaded',
    interrupted: 'killed',
    killed: 'crash',
    auth: 'auth',
    billing: 'auth',
    'no-key': 'auth',
    model: 'config',
    'unknown-model': 'config',
    'bad-flag': 'config',
    limited: 'rate-limit',
    'limited-with-reset': 'rate-limit',
    overloaded: 'overloaded',
    server: 'overloaded',
    context: 'context',
    'no-session': 'context',
  },
  { tokens: 240, calls: 2, costUsd: 0.00028 },
)

const AT = Date.UTC(2026, 0, 1)

const play = (scene: string, changed: Partial<Request> = {}) => playScene(pi, scene, changed)

function read(...lines: object[]): { outcome: Outcome; events: AgentEvent[] } {
  const parser = pi.parser(request)
  const events = lines.flatMap((line) => parser.push(JSON.stringify(line), 'out').events)
  return { outcome: parser.end({ code: 0, signal: null }, new Map()), events }
}

function said(message: object): object {
  return { type: 'message_end', message: { role: 'assistant', content: [], stopReason: 'stop', ...message } }
}

const settled = { type: 'agent_settled' }

test('nothing asks for a permission, so nothing is denied', () => {
  expect(play('denied', { permissions: 'ask' }).outcome).toMatchObject({ denied: [], ran: ['touch x.txt'] })
})

test('a resumed session counts only what is new, as the client does', () => {
  const { outcome } = play('ok', { resume: { id: 'x', costUsd: 5, tokens: 1_000 } })
  expect(outcome.tokens).toBe(240)
  expect(outcome.costUsd).toBeCloseTo(0.00028, 6)
})

test('retries are shown, and the last one counts', () => {
  const { outcome, events } = play('retried')
  expect(events).toContainEqual({ kind: 'retry', why: expect.stringContaining('Overloaded') })
  expect(outcome).toMatchObject({ kind: 'ok', finalText: 'All done.', tokens: 120 })
})

test('a limit knows when it ends', () => {
  expect(play('limited-with-reset').outcome.resetsAt).toBe(AT + 20_000)
  expect(play('limited').outcome.resetsAt).toBeUndefined()
})

test('a limit of a subscription says about when', () => {
  const errorMessage = 'You have hit your ChatGPT usage limit (plus plan). Try again in ~90 min.'
  expect(read(said({ stopReason: 'error', errorMessage }), settled).outcome).toMatchObject({
    kind: 'rate-limit',
    resetsAt: AT + 90 * 60_000,
  })
})

test("errors use the client's words", () => {
  expect(play('auth').outcome.message).toBe('401: invalid x-api-key')
  expect(play('no-key').outcome.message).toBe('No API key found for the selected model.')
  expect(play('unknown-model').outcome.message).toContain('Model "nope" not found')
})

test('the cost of a summary of the conversation counts', () => {
  const usage = { input: 50, output: 5, cacheRead: 3, cacheWrite: 2, cost: { total: 0.5 } }
  const summary = { type: 'compaction_end', reason: 'threshold', result: { usage }, willRetry: false }
  expect(read(said({ usage }), summary, settled).outcome).toMatchObject({ kind: 'ok', tokens: 120, costUsd: 1 })
})

test.each<[message: string, kind: Outcome['kind']]>([
  ['400: prompt is too long: 250000 tokens > 200000 maximum', 'context'],
  ['400: Your credit balance is too low', 'auth'],
  ['529 {"type":"error","error":{"type":"overloaded_error"}}', 'overloaded'],
  ['Connection error.', 'overloaded'],
  ['terminated', 'overloaded'],
  ['The model refused to complete the request', 'refused'],
  ['something else', 'unknown'],
])('%s is %s', (errorMessage, kind) => {
  expect(read(said({ stopReason: 'error', errorMessage }), settled).outcome.kind).toBe(kind)
})

test('a session of another folder is not resumed', () => {
  const parser = pi.parser({ ...request, resume: { id: 'x', costUsd: 0 } })
  parser.push('Session found in different project: /home/somebody/else', 'out')
  parser.push('Fork this session into current directory? [y/N] Aborted.', 'out')
  expect(parser.end({ code: 0, signal: null }, new Map()).kind).toBe('context')
})

test('an older version reports the end of its work and not that it has settled', () => {
  const end = { type: 'agent_end', messages: [] }
  expect(read(said({}), end).outcome.kind).toBe('ok')
  expect(read(said({}), { ...end, willRetry: true }).outcome.kind).toBe('crash')
  const failed = said({ stopReason: 'error', errorMessage: '503 overloaded' })
  const again = [{ type: 'auto_retry_start' }, { type: 'agent_start' }]
  expect(read(failed, end, ...again).outcome.kind).toBe('crash')
  expect(read(failed, end, ...again, said({}), end).outcome.kind).toBe('ok')
})

describe('without a settled end', () => {
  test('a warning before a signal is not the reason', () => {
    const parser = pi.parser(request)
    parser.push('Warning: skill x not found', 'err')
    expect(parser.end({ code: null, signal: 'SIGKILL' }, new Map()).kind).toBe('killed')
  })

  test('exit code 0 is no success', () => {
    expect(read(said({})).outcome.kind).toBe('crash')
  })

  test('work that restarts must settle again', () => {
    expect(read(said({}), settled, { type: 'agent_start' }).outcome.kind).toBe('crash')
  })
})

describe('the command', () => {
  test.each<[story: string, changed: Partial<Request>, argv: string[]]>([
    ['reads its prompt from standard input', {}, ['pi', '--mode', 'json']],
    [
      'takes a model, a session and arguments of its own',
      { model: 'm', resume: { id: 's', costUsd: 0 }, extraArgs: ['--x'], target: '/opt/pi' },
      ['/opt/pi', '--mode', 'json', '--model', 'm', '--session', 's', '--x'],
    ],
    ['talks to a person', { mode: 'interactive' }, ['pi', '--', 'Work.']],
  ])('%s', (_, changed, argv) => {
    expect(pi.command({ ...request, ...changed }).argv).toEqual(argv)
  })
})
