import { describe, expect, test } from 'vitest'
import type { Request } from './agent.ts'
import { claude } from './claude.ts'
import { conformance, play as playScene, request } from './conformance.test-support.ts'

conformance(
  claude,
  {
    ok: 'ok',
    'promise-in-tool': 'ok',
    empty: 'ok',
    denied: 'ok',
    'max-turns': 'ok',
    'max-budget': 'ok',
    'several-results': 'ok',
    cut: 'ok',
    'max-tokens': 'unknown',
    refusal: 'refused',
    'no-connection': 'overloaded',
    hang: 'overloaded',
    interrupted: 'killed',
    killed: 'crash',
    auth: 'auth',
    billing: 'auth',
    model: 'config',
    'bad-flag': 'config',
    limited: 'rate-limit',
    'limited-with-reset': 'rate-limit',
    overloaded: 'overloaded',
    server: 'overloaded',
    context: 'context',
    'no-session': 'context',
  },
  { tokens: 240, calls: 2, costUsd: 0.0016 },
)

const play = (scene: string, changed: Partial<Request> = {}) => playScene(claude, scene, changed)

test('the last of several results counts, and the tokens of all', () => {
  const { outcome } = play('several-results')
  expect(outcome).toMatchObject({ finalText: 'All done.\n\n<promise>COMPLETE</promise>', tokens: 360 })
  expect(outcome.costUsd).toBeCloseTo(0.0024, 6)
})

test('a budget that runs out leaves nothing uncounted', () => {
  expect(play('max-budget').outcome).toMatchObject({ finalText: '', tokens: 240 })
})

test('a resumed session costs only what is new', () => {
  const { outcome } = play('ok', { resume: { id: 'x', costUsd: 0.001 } })
  expect(outcome.costUsd).toBeCloseTo(0.0006, 6)
  expect(outcome.session?.costUsd).toBeCloseTo(0.0016, 6)
})

test('a denial names the tool and what it was to do', () => {
  expect(play('denied').outcome.denied).toEqual(['Bash: touch x.txt'])
})

test('a limit knows when it ends', () => {
  expect(play('limited-with-reset').outcome.resetsAt).toBe(4_102_444_800_000)
  expect(play('limited').outcome.resetsAt).toBeUndefined()
})

test("errors use the client's words", () => {
  expect(play('auth').outcome.message).toContain('Invalid API key')
  expect(play('bad-flag').outcome.message).toContain('--no-such-flag')
})

describe('without a result', () => {
  const parser = () => claude.parser(request)

  test('a client that is killed was killed', () => {
    expect(parser().end({ code: null, signal: 'SIGKILL' }, new Map()).kind).toBe('killed')
    expect(parser().end({ code: 143, signal: null, stopped: 'silent' }, new Map())).toMatchObject({ kind: 'killed' })
  })

  test('exit code 0 is not enough', () => {
    expect(parser().end({ code: 0, signal: null }, new Map()).kind).toBe('crash')
  })

  test('root learns what to do', () => {
    const told = parser()
    told.push('--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons', 'err')
    expect(told.end({ code: 1, signal: null }, new Map())).toMatchObject({
      kind: 'config',
      message: expect.stringContaining('--permissions ask'),
    })
  })
})

describe('the command', () => {
  test.each<[story: string, changed: Partial<Request>, argv: string[]]>([
    [
      'bypasses permissions',
      {},
      ['claude', '--print', '--output-format', 'stream-json', '--verbose', '--dangerously-skip-permissions'],
    ],
    [
      'asks when it shall',
      { permissions: 'ask' },
      ['claude', '--print', '--output-format', 'stream-json', '--verbose'],
    ],
    [
      'takes a model, a session and arguments of its own',
      { permissions: 'ask', model: 'm', resume: { id: 's', costUsd: 0 }, extraArgs: ['--x'], target: '/opt/claude' },
      ['/opt/claude', '--print', '--output-format', 'stream-json', '--verbose', '--model', 'm', '--resume', 's', '--x'],
    ],
    ['talks to a person', { mode: 'interactive' }, ['claude', '--dangerously-skip-permissions', '--', 'Work.']],
  ])('%s', (_, changed, argv) => {
    expect(claude.command({ ...request, ...changed }).argv).toEqual(argv)
  })
})

test('a prompt that never reached the model is no turn', () => {
  const parser = claude.parser(request)
  const result = { type: 'result', subtype: 'success', is_error: false, num_turns: 0, result: 'held back by a hook' }
  parser.push(JSON.stringify(result), 'out')
  expect(parser.end({ code: 0, signal: null }, new Map())).toMatchObject({
    kind: 'config',
    message: 'Claude Code did not pass the prompt on to its model: held back by a hook',
  })
})
