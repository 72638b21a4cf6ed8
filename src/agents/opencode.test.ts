import { describe, expect, test } from 'vitest'
import type { Request } from './agent.ts'
import { conformance, play as playScene, request } from './conformance.test-support.ts'
import { kilo, opencode } from './opencode.ts'

conformance(
  opencode,
  {
    ok: 'ok',
    'promise-in-tool': 'ok',
    empty: 'ok',
    denied: 'ok',
    'limited-then-ok': 'ok',
    'max-tokens': 'unknown',
    'no-model': 'unknown',
    refusal: 'refused',
    auth: 'auth',
    billing: 'auth',
    limited: 'rate-limit',
    'limited-with-reset': 'rate-limit',
    overloaded: 'overloaded',
    server: 'overloaded',
    context: 'context',
    'context-compacted': 'context',
    'context-loop': 'context',
    'no-session': 'context',
    model: 'config',
    'bad-flag': 'config',
    killed: 'killed',
    interrupted: 'killed',
  },
  { tokens: 240, calls: 2, costUsd: 0.0006 },
)

conformance(
  kilo,
  {
    ok: 'ok',
    'promise-in-tool': 'ok',
    empty: 'unknown',
    denied: 'ok',
    auth: 'auth',
    limited: 'rate-limit',
    context: 'context',
    'context-compacted': 'context',
    'context-loop': 'context',
    'bad-flag': 'config',
    killed: 'killed',
  },
  { tokens: 240, calls: 2, costUsd: 0.0006 },
)

const play = (scene: string) => playScene(opencode, scene)
const says = (event: object) => JSON.stringify({ timestamp: 1_000, sessionID: 'ses_1', ...event })

test.each([opencode, kilo])('a denial of $name names the tool and its command, which did not run', (agent) => {
  expect(playScene(agent, 'denied').outcome).toMatchObject({ denied: ['bash: touch x.txt'], ran: [] })
})

test('a limit that names its end lasts until then', () => {
  expect(play('limited-with-reset').outcome.resetsAt).toBe(Date.UTC(2026, 0, 1, 0, 20))
  expect(play('limited').outcome.resetsAt).toBeUndefined()
})

test('a limit ends when the header of its model says so', () => {
  const parser = opencode.parser(request)
  const data = { message: 'slow down', statusCode: 429, responseHeaders: { 'retry-after': '30' } }
  parser.push(says({ type: 'error', error: { name: 'APIError', data } }), 'out')
  expect(parser.end({ code: 1, signal: null }, new Map())).toMatchObject({ kind: 'rate-limit', resetsAt: 31_000 })
})

test('what the client inserts after compaction is not the final text', () => {
  expect(play('context-compacted').outcome.finalText).toBe('All done.\n\n<promise>COMPLETE</promise>')
  expect(play('context-loop').outcome.finalText).toBe('A summary.')
})

test('a context that keeps filling up is reported, even if ralph had to stop the client', () => {
  const parser = opencode.parser(request)
  for (let n = 0; n < 34; n++)
    parser.push(says({ type: 'error', error: { name: 'ContextOverflowError', data: { message: 'Full.' } } }), 'out')
  expect(parser.end({ code: null, signal: 'SIGTERM', stopped: 'deadline' }, new Map())).toMatchObject({
    kind: 'context',
    message: 'its context was full 34 times in a row',
  })
})

test('a limit after compaction is a limit', () => {
  const parser = opencode.parser(request)
  parser.push(says({ type: 'error', error: { name: 'ContextOverflowError', data: { message: 'Full.' } } }), 'out')
  parser.push(says({ type: 'step_finish', part: { reason: 'tool-calls' } }), 'out')
  const data = { message: 'slow down', statusCode: 429 }
  parser.push(says({ type: 'error', error: { name: 'APIError', data } }), 'out')
  expect(parser.end({ code: 1, signal: null }, new Map()).kind).toBe('rate-limit')
})

test('an unfinished step is no success', () => {
  const parser = opencode.parser(request)
  parser.push(says({ type: 'step_finish', part: { reason: 'stop' } }), 'out')
  parser.push(says({ type: 'step_start', part: {} }), 'out')
  expect(parser.end({ code: 0, signal: null }, new Map()).kind).toBe('crash')
})

test('tokens of the cache and of reasoning count', () => {
  const parser = opencode.parser(request)
  const tokens = { input: 1, output: 2, reasoning: 4, cache: { read: 8, write: 16 } }
  const { events } = parser.push(says({ type: 'step_finish', part: { reason: 'stop', cost: 0.5, tokens } }), 'out')
  expect(events).toContainEqual({
    kind: 'usage',
    usage: { input: 17, output: 6, cached: 8, costUsd: 0.5, scope: 'step' },
  })
  expect(parser.end({ code: 0, signal: null }, new Map())).toMatchObject({ tokens: 31, costUsd: 0.5 })
})

test("errors use the client's words, without its colors", () => {
  expect(play('auth').outcome.message).toBe('invalid x-api-key')
  expect(play('no-session').outcome.message).toBe('Error: Session not found')
})

describe('the command', () => {
  test.each<[story: string, changed: Partial<Request>, argv: string[]]>([
    ['bypasses permissions', {}, ['opencode', 'run', '--format', 'json', '--auto']],
    ['asks when it shall', { permissions: 'ask' }, ['opencode', 'run', '--format', 'json']],
    [
      'takes a model, a session and arguments of its own',
      {
        permissions: 'ask',
        model: 'p/m',
        resume: { id: 's', costUsd: 0 },
        extraArgs: ['--x'],
        target: '/opt/opencode',
      },
      ['/opt/opencode', 'run', '--format', 'json', '--model', 'p/m', '--session', 's', '--x'],
    ],
    ['talks to a person', { mode: 'interactive' }, ['opencode', '--auto', '--prompt=Work.']],
  ])('%s', (_, changed, argv) => {
    expect(opencode.command({ ...request, ...changed }).argv).toEqual(argv)
  })

  test('of Kilo is the same', () => {
    expect(kilo.command(request).argv).toEqual(['kilo', 'run', '--format', 'json', '--auto'])
  })
})
