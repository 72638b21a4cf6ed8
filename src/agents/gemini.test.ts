import { describe, expect, test } from 'vitest'
import type { Request } from './agent.ts'
import { conformance, play as playScene, request } from './conformance.test-support.ts'
import { gemini } from './gemini.ts'

conformance(
  gemini,
  {
    ok: 'ok',
    'promise-in-tool': 'ok',
    'several-texts': 'ok',
    denied: 'ok',
    'max-tokens': 'ok',
    empty: 'unknown',
    cut: 'unknown',
    refusal: 'refused',
    'no-connection': 'overloaded',
    killed: 'killed',
    auth: 'auth',
    'bad-key': 'auth',
    'no-login': 'auth',
    model: 'config',
    'bad-flag': 'config',
    limited: 'rate-limit',
    'limited-with-reset': 'rate-limit',
    quota: 'quota',
    overloaded: 'overloaded',
    server: 'overloaded',
    context: 'context',
    'no-session': 'context',
  },
  { tokens: 240 },
)

const play = (scene: string, changed: Partial<Request> = {}) => playScene(gemini, scene, changed)

test('what it says before a tool is not its last word', () => {
  const { outcome } = play('several-texts')
  expect(outcome).toMatchObject({ finalText: 'All done.\n\n<promise>COMPLETE</promise>', ran: ['echo 1'] })
})

test('text that arrives in pieces is one text', () => {
  const parser = gemini.parser(request)
  for (const content of ['All ', 'done.'])
    parser.push(JSON.stringify({ type: 'message', role: 'assistant', content, delta: true }), 'out')
  parser.push('{"type":"result","status":"success"}', 'out')
  expect(parser.end({ code: 0, signal: null }, new Map())).toMatchObject({ kind: 'ok', finalText: 'All done.' })
})

test("what it said before a hook of the user's made it continue is not its last word", () => {
  const parser = gemini.parser(request)
  const say = (content: string) =>
    parser.push(JSON.stringify({ type: 'message', role: 'assistant', content, delta: true }), 'out')
  const blocked = { type: 'error', severity: 'warning', message: 'Agent execution blocked: go on' }
  say('All done.\n\n<promise>COMPLETE</promise>')
  parser.push(JSON.stringify(blocked), 'out')
  say('Not yet.')
  parser.push('{"type":"result","status":"success"}', 'out')
  expect(parser.end({ code: 0, signal: null }, new Map())).toMatchObject({ kind: 'ok', finalText: 'Not yet.' })
})

test('the rest of a printed error is not reported again', () => {
  const parser = gemini.parser(request)
  const shown = (line: string) => parser.push(line, 'err').events.map((event) => event.kind)
  expect(shown('Attempt 1 failed with status 503. Retrying with backoff... ApiError: {')).toEqual(['retry'])
  for (const line of ['  "error": {', '    at async main (file:///x.js:1:2) {', '  status: 503', '}', '},'])
    expect(shown(line)).toEqual([])
  expect(shown('Ripgrep is not available. Falling back to GrepTool.')).toEqual(['warning'])
})

test('a tool it hides because it would have to ask was denied', () => {
  const { outcome } = play('denied', { permissions: 'ask' })
  expect(outcome).toMatchObject({ denied: ['run_shell_command: touch x.txt'], ran: [] })
})

test('a tool that does not exist was not denied', () => {
  expect(play('denied').outcome.denied).toEqual([])
})

test('a limit knows when it ends, if the client says so', () => {
  expect(play('limited-with-reset', { at: 1_000 }).outcome.resetsAt).toBe(35_070)
  expect(play('limited').outcome.resetsAt).toBeUndefined()
})

test("errors use the client's words", () => {
  expect(play('auth').outcome.message).toContain('invalid x-api-key')
  expect(play('bad-flag').outcome.message).toBe('Unknown arguments: such-flag, suchFlag')
  expect(play('no-login').outcome.message).toContain('GEMINI_API_KEY')
  expect(play('no-session').outcome.message).toContain('No previous sessions')
  expect(play('empty').outcome.message).toContain('empty response')
})

test('its own retries are reported as such', () => {
  const line = 'Attempt 1 failed with status 429. Retrying with backoff... RetryableQuotaError: slow down'
  expect(gemini.parser(request).push(line, 'err').events).toEqual([{ kind: 'retry', why: line }])
})

test('an error of a tool is not what kept it from starting', () => {
  const parser = gemini.parser(request)
  parser.push('{"type":"init","session_id":"s"}', 'out')
  parser.push('Unknown argument: x', 'err')
  parser.push('{"type":"result","status":"error","error":{"message":"[API Error: slow down]"}}', 'out')
  expect(parser.end({ code: 173, signal: null }, new Map()).kind).toBe('rate-limit')
})

describe.each([
  [41, 'auth'],
  [53, 'ok'],
  [54, 'unknown'],
  [130, 'killed'],
  [147, 'auth'],
  [247, 'overloaded'],
] as const)('exit code %i', (code, kind) => {
  test(`is ${kind}`, () => {
    const parser = gemini.parser(request)
    parser.push('{"type":"result","status":"error","error":{"type":"unknown","message":"It ended."}}', 'out')
    expect(parser.end({ code, signal: null }, new Map())).toMatchObject({ kind, finalText: '' })
  })
})

test('an untrusted folder is a configuration error', () => {
  const parser = gemini.parser(request)
  parser.push('Gemini CLI is not running in a trusted directory.', 'err')
  expect(parser.end({ code: 55, signal: null }, new Map())).toMatchObject({
    kind: 'config',
    message: 'Gemini CLI is not running in a trusted directory.',
  })
})

describe('the command', () => {
  const HEADLESS = ['gemini', '--output-format', 'stream-json', '--skip-trust']
  test.each<[story: string, changed: Partial<Request>, argv: string[]]>([
    ['bypasses permissions', {}, [...HEADLESS, '--yolo']],
    ['asks when it shall', { permissions: 'ask' }, HEADLESS],
    [
      'takes a model, a session and arguments of its own',
      { permissions: 'ask', model: 'm', resume: { id: 's', costUsd: 0 }, extraArgs: ['--x'], target: '/opt/gemini' },
      ['/opt/gemini', ...HEADLESS.slice(1), '--model', 'm', '--resume', 's', '--x'],
    ],
    ['talks to a person', { mode: 'interactive' }, ['gemini', '--yolo', '--prompt-interactive=Work.']],
  ])('%s', (_, changed, argv) => {
    expect(gemini.command({ ...request, ...changed }).argv).toEqual(argv)
  })
})
