import { describe, expect, test } from 'vitest'
import type { Request } from './agent.ts'
import { conformance, play as playScene, request } from './conformance.test-support.ts'
import { qwen } from './qwen.ts'

conformance(
  qwen,
  {
    ok: 'ok',
    'promise-in-tool': 'ok',
    'several-texts': 'ok',
    denied: 'ok',
    'max-tokens': 'ok',
    'max-turns': 'ok',
    'max-tool-calls': 'ok',
    empty: 'unknown',
    'no-connection': 'overloaded',
    killed: 'killed',
    auth: 'auth',
    billing: 'auth',
    'no-login': 'auth',
    model: 'config',
    'bad-flag': 'config',
    limited: 'rate-limit',
    quota: 'quota',
    overloaded: 'overloaded',
    server: 'overloaded',
    context: 'context',
    'no-session': 'context',
  },
  { tokens: 240 },
)

const play = (scene: string, changed: Partial<Request> = {}) => playScene(qwen, scene, changed)

test('what it says before a tool is not its last word', () => {
  expect(play('several-texts').outcome).toMatchObject({
    finalText: 'All done.\n\n<promise>COMPLETE</promise>',
    ran: ['echo 1'],
  })
})

test('only the new part of a resumed session counts', () => {
  const { outcome } = play('ok', { resume: { id: 'x', costUsd: 0, tokens: 120 } })
  expect(outcome).toMatchObject({ tokens: 120, session: { tokens: 240 } })
})

test('a turn without a result used what its answers used', () => {
  const { outcome } = play('max-turns', { resume: { id: 'x', costUsd: 0, tokens: 500 } })
  expect(outcome).toMatchObject({ kind: 'ok', finalText: '', tokens: 120, session: { tokens: 620 } })
})

test('a denial names the tool and what it was to do', () => {
  expect(play('denied').outcome.denied).toEqual(['run_shell_command: touch x.txt'])
})

test('a quota knows when it resets', () => {
  expect(play('quota').outcome.resetsAt).toBe(4_102_444_800_000)
  expect(play('limited').outcome.resetsAt).toBeUndefined()
})

test('an error is not what the model said last', () => {
  expect(play('auth').outcome).toMatchObject({ finalText: '', message: '[API Error: 401 invalid x-api-key]' })
})

test("errors use the client's words", () => {
  expect(play('bad-flag').outcome.message).toBe('Unknown arguments: such-flag, suchFlag')
  expect(play('no-login').outcome.message).toContain('OPENAI_API_KEY')
  expect(play('no-session').outcome.message).toContain('No saved session found')
})

test('its own retries are reported as such', () => {
  expect(play('empty').events).toContainEqual({ kind: 'retry', why: expect.stringContaining('Retrying') })
})

test('exit code 0 without a result is no success', () => {
  expect(qwen.parser(request).end({ code: 0, signal: null }, new Map()).kind).toBe('crash')
})

describe('the command', () => {
  const HEADLESS = ['qwen', '--output-format', 'stream-json']
  test.each<[story: string, changed: Partial<Request>, argv: string[]]>([
    ['bypasses permissions', {}, [...HEADLESS, '--yolo']],
    ['asks when it shall', { permissions: 'ask' }, HEADLESS],
    [
      'takes a model, a session and arguments of its own',
      { permissions: 'ask', model: 'm', resume: { id: 's', costUsd: 0 }, extraArgs: ['--x'], target: '/opt/qwen' },
      ['/opt/qwen', ...HEADLESS.slice(1), '--model', 'm', '--resume', 's', '--x'],
    ],
    ['talks to a person', { mode: 'interactive' }, ['qwen', '--yolo', '--prompt-interactive=Work.']],
  ])('%s', (_, changed, argv) => {
    expect(qwen.command({ ...request, ...changed }).argv).toEqual(argv)
  })
})
