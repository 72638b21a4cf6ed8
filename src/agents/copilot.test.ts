import { describe, expect, test } from 'vitest'
import type { Request } from './agent.ts'
import { conformance, play as playScene, request } from './conformance.test-support.ts'
import { copilot } from './copilot.ts'

conformance(
  copilot,
  {
    ok: 'ok',
    'promise-in-tool': 'ok',
    denied: 'ok',
    cut: 'ok',
    'limited-then-ok': 'ok',
    'max-tokens': 'ok',
    refusal: 'ok',
    empty: 'unknown',
    auth: 'auth',
    billing: 'auth',
    quota: 'auth',
    'no-login': 'auth',
    limited: 'rate-limit',
    'limited-with-reset': 'rate-limit',
    overloaded: 'overloaded',
    server: 'overloaded',
    'no-connection': 'overloaded',
    context: 'context',
    'no-session': 'context',
    model: 'config',
    'bad-flag': 'config',
    killed: 'killed',
    interrupted: 'killed',
  },
  { tokens: 240 },
)

const play = (scene: string, changed: Partial<Request> = {}) => playScene(copilot, scene, changed)

test('its file counts the whole session, and only the new part belongs to this turn', () => {
  const { outcome } = play('ok', { resume: { id: 'x', costUsd: 0, tokens: 100 } })
  expect(outcome).toMatchObject({ tokens: 140, session: { tokens: 240 } })
})

test('without its file a session keeps what it had', () => {
  const parser = copilot.parser({ ...request, resume: { id: 'x', costUsd: 0, tokens: 100 } })
  expect(parser.collect?.()).toEqual(['/home/somebody/copilot-usage.json'])
  const outcome = parser.end({ code: null, signal: 'SIGKILL' }, new Map())
  expect(outcome).toMatchObject({ kind: 'killed', tokens: 0, session: { id: 'x', tokens: 100 } })
})

test('a file that is cut off counts nothing', () => {
  const files = new Map([['/home/somebody/copilot-usage.json', '{"modelMetrics":{"m":{"usage":']])
  expect(copilot.parser(request).end({ code: 1, signal: null }, files).tokens).toBe(0)
})

test('a denial names the tool and its command, which did not run', () => {
  expect(play('denied').outcome).toMatchObject({ denied: ['bash: touch x.txt'], ran: [] })
})

test('a limit that names its duration ends then, counted from when it was reported', () => {
  expect(play('limited-with-reset', { at: 0 }).outcome.resetsAt).toBe(Date.UTC(2026, 0, 1, 0, 20))
  expect(play('limited').outcome.resetsAt).toBeUndefined()
})

test('retries are shown', () => {
  const retries = play('limited').events.filter(({ kind }) => kind === 'retry')
  expect(retries).toEqual(Array(5).fill({ kind: 'retry', why: 'rate_limit' }))
})

test("errors use the client's words", () => {
  expect(play('auth').outcome.message).toContain('Authentication failed')
  expect(play('bad-flag').outcome.message).toContain('--no-such-flag')
})

test.each([
  [{ errorType: 'quota', errorCode: 'quota_exceeded', message: 'You have no premium requests left.' }, 'quota'],
  [{ errorType: 'quota', errorCode: 'billing_not_configured', message: 'Set up billing.' }, 'auth'],
  [{ errorType: 'policy', message: 'Access denied by policy settings.' }, 'auth'],
  [{ errorType: 'context_limit', message: 'Too much.' }, 'context'],
  [{ errorType: 'rate_limit', errorCode: 'user_weekly_rate_limited', message: 'Slow down.' }, 'rate-limit'],
  [{ errorType: 'query', message: 'Something else.' }, 'unknown'],
])('%j is %s', (data, kind) => {
  const parser = copilot.parser(request)
  parser.push(JSON.stringify({ type: 'session.error', data }), 'out')
  expect(parser.end({ code: 1, signal: null }, new Map()).kind).toBe(kind)
})

test('what a subagent says is not the final text', () => {
  const parser = copilot.parser(request)
  parser.push(JSON.stringify({ type: 'assistant.message', data: { content: 'Mine.' } }), 'out')
  parser.push(JSON.stringify({ type: 'assistant.message', agentId: 'a', data: { content: 'Of a helper.' } }), 'out')
  expect(parser.end({ code: 1, signal: null }, new Map()).finalText).toBe('Mine.')
})

describe('the command', () => {
  const HEADLESS = ['--output-format', 'json', '--no-ask-user', '--no-auto-update']
  const USAGE = ['--usage-output-file', '/home/somebody/copilot-usage.json']

  test.each<[story: string, changed: Partial<Request>, argv: string[]]>([
    ['bypasses permissions', {}, ['copilot', ...HEADLESS, ...USAGE, '--yolo']],
    ['asks when it shall', { permissions: 'ask' }, ['copilot', ...HEADLESS, ...USAGE]],
    [
      'takes a model, a session and arguments of its own',
      { permissions: 'ask', model: 'm', resume: { id: 's', costUsd: 0 }, extraArgs: ['--x'], target: '/opt/copilot' },
      ['/opt/copilot', ...HEADLESS, ...USAGE, '--model', 'm', '--resume=s', '--x'],
    ],
    ['talks to a person', { mode: 'interactive' }, ['copilot', '--yolo', '--interactive=Work.']],
  ])('%s', (_, changed, argv) => {
    expect(copilot.command({ ...request, ...changed }).argv).toEqual(argv)
  })
})
