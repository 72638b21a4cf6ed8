import { describe, expect, test } from 'vitest'
import type { Outcome, Request } from './agent.ts'
import { conformance, play as playScene, request } from './conformance.test-support.ts'
import { droid } from './droid.ts'

conformance(
  droid,
  {
    ok: 'ok',
    'promise-in-tool': 'ok',
    empty: 'ok',
    denied: 'ok',
    refusal: 'refused',
    interrupted: 'crash',
    killed: 'crash',
    auth: 'auth',
    billing: 'auth',
    model: 'config',
    'unknown-model': 'config',
    'bad-flag': 'config',
    limited: 'rate-limit',
    overloaded: 'overloaded',
    server: 'overloaded',
    context: 'context',
  },
  { tokens: 240 },
)

const AT = Date.UTC(2026, 0, 1)

const play = (scene: string, changed: Partial<Request> = {}) => playScene(droid, scene, changed)

function failing(message: string): Outcome {
  const parser = droid.parser(request)
  for (const [source, words] of [
    ['agent_loop', message],
    ['cli', 'Exec failed'],
  ])
    parser.push(JSON.stringify({ type: 'error', source, message: words }), 'out')
  return parser.end({ code: 1, signal: null }, new Map())
}

test('a denial ends the turn without any last words, and names the tool and its command', () => {
  expect(play('denied', { permissions: 'ask' }).outcome).toMatchObject({
    denied: ['Execute: touch x.txt'],
    ran: [],
    finalText: '',
  })
})

test('exiting silently means that the session to resume was not found', () => {
  expect(play('no-session', { resume: { id: 'x', costUsd: 0 } }).outcome.kind).toBe('context')
  expect(play('no-session').outcome.kind).toBe('crash')
})

test('after a signal it exits with code 0, which is no success', () => {
  expect(play('killed').outcome.message).toContain('exited with code 0 without a result')
})

test('errors use the words of the model service, not those that only say that it failed', () => {
  expect(play('auth').outcome.message).toContain('invalid x-api-key')
  expect(play('unknown-model').outcome.message).toBe('Invalid model: nope')
  expect(play('bad-flag').outcome.message).toContain('--no-such-flag')
})

test('a limit knows when it ends if its words say so', () => {
  expect(failing('429 Limit reached, try again in 20 minutes')).toMatchObject({
    kind: 'rate-limit',
    resetsAt: AT + 20 * 60_000,
  })
  expect(play('limited').outcome.resetsAt).toBeUndefined()
})

test.each<[message: string, kind: Outcome['kind']]>([
  ['Context limit exceeded. Please remove some context and try again.', 'context'],
  ['402 {"error":"no credits"}', 'auth'],
  ['Connection error.', 'overloaded'],
  ['something else', 'unknown'],
])('%s is %s', (message, kind) => {
  expect(failing(message).kind).toBe(kind)
})

describe('the command', () => {
  const exec = ['exec', '--output-format', 'stream-json']
  test.each<[story: string, changed: Partial<Request>, argv: string[]]>([
    ['bypasses permissions', {}, ['droid', ...exec, '--skip-permissions-unsafe']],
    ['asks when it shall', { permissions: 'ask' }, ['droid', ...exec]],
    [
      'takes a model, a session and arguments of its own',
      { permissions: 'ask', model: 'm', resume: { id: 's', costUsd: 0 }, extraArgs: ['--x'], target: '/opt/droid' },
      ['/opt/droid', ...exec, '--model', 'm', '--fork', 's', '--x'],
    ],
    ['talks to a person', { mode: 'interactive' }, ['droid', '--auto', 'high', '--', 'Work.']],
  ])('%s', (_, changed, argv) => {
    expect(droid.command({ ...request, ...changed }).argv).toEqual(argv)
  })
})
