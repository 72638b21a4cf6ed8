import { describe, expect, test } from 'vitest'
import type { Request } from './agent.ts'
import { codex } from './codex.ts'
import { request as anyRequest, conformance, play as playScene } from './conformance.test-support.ts'

conformance(
  codex,
  {
    ok: 'ok',
    'promise-in-tool': 'ok',
    empty: 'ok',
    denied: 'ok',
    'denied-escalation': 'ok',
    patch: 'ok',
    'patch-denied': 'ok',
    reconnected: 'ok',
    refusal: 'refused',
    cut: 'overloaded',
    'no-connection': 'overloaded',
    interrupted: 'crash',
    killed: 'killed',
    auth: 'auth',
    billing: 'auth',
    'no-plan': 'auth',
    'no-key': 'auth',
    model: 'config',
    'model-of-plan': 'config',
    'bad-flag': 'config',
    limited: 'rate-limit',
    'limited-with-reset': 'rate-limit',
    'limited-in-stream': 'rate-limit',
    overloaded: 'overloaded',
    capacity: 'overloaded',
    server: 'overloaded',
    context: 'context',
    'context-by-status': 'context',
    'no-session': 'context',
  },
  { tokens: 240 },
)

const request: Request = { ...anyRequest, at: new Date(2026, 10, 16, 7, 20, 30).getTime() }

const play = (scene: string, changed: Partial<Request> = {}) => playScene(codex, scene, changed)
const SESSION = '00000000-0000-7000-8000-000000000000'

/** One turn that fails with these words. */
function failsWith(message: string) {
  const parser = codex.parser(request)
  parser.push(JSON.stringify({ type: 'turn.failed', error: { message } }), 'out')
  return parser.end({ code: 1, signal: null }, new Map())
}

describe('tokens, which it counts from the start of its session', () => {
  test('are counted once when the session continues', () => {
    const { outcome } = play('ok', { resume: { id: SESSION, costUsd: 0, tokens: 100 } })
    expect(outcome).toMatchObject({ tokens: 140, session: { id: SESSION, tokens: 240 } })
    expect(outcome).not.toHaveProperty('usage') // nobody knows what the 100 were
  })

  test('are known by kind if those before are', () => {
    const before = { input: 80, cached: 0, output: 20 }
    const { outcome } = play('ok', { resume: { id: SESSION, costUsd: 0, tokens: 100, usage: before } })
    expect(outcome.usage).toEqual({ input: 120, cached: 0, output: 20 })
    expect(outcome.session?.usage).toEqual({ input: 200, cached: 0, output: 40 })
  })

  test('are not subtracted from another session', () => {
    const { outcome } = play('ok', { resume: { id: 'another', costUsd: 0, tokens: 100 } })
    expect(outcome).toMatchObject({ tokens: 240, session: { id: SESSION, tokens: 240 } })
  })

  test('of a turn that fails are left for the next one to count', () => {
    const { outcome } = play('limited', { resume: { id: SESSION, costUsd: 0, tokens: 100 } })
    expect(outcome).toMatchObject({ tokens: 0, session: { id: SESSION, tokens: 100 } })
  })
})

describe('a denial', () => {
  test.each([
    ['patch-denied', [expect.stringContaining('patch rejected: writing is blocked by read-only sandbox')]],
    ['denied-escalation', ['approval policy is Never; reject command']],
  ])('is seen in %s', (scene, denied) => {
    expect(play(scene, { permissions: 'ask' }).outcome.denied).toEqual(denied)
  })

  // Not recorded: whether it reports such a command varies.
  test.each([
    ['ask', ['command_execution: touch x.txt']],
    ['bypass', []],
  ] as const)('by its sandbox is one where permissions are %s', (permissions, denied) => {
    const parser = codex.parser({ ...request, permissions })
    const item = { id: 'item_0', type: 'command_execution', command: "/bin/bash -lc 'touch x.txt'", status: 'failed' }
    const aggregated_output = "touch: cannot touch 'x.txt': Read-only file system\n"
    parser.push(JSON.stringify({ type: 'item.completed', item: { ...item, aggregated_output, exit_code: 1 } }), 'out')
    expect(parser.end({ code: 0, signal: null }, new Map()).denied).toEqual(denied)
  })
})

describe('when a limit resets', () => {
  const time = (...[day, hour, minute]: [number, number, number]) => new Date(2026, 10, day, hour, minute).getTime()

  // The time it names has no seconds, so the limit ends within that minute.
  test.each([
    ['try again at Nov 17th, 2026 7:20 AM.', time(17, 7, 21)],
    ['or try again at 3:33 PM.', time(16, 15, 34)],
    ['or try again at 7:20 AM.', time(16, 7, 21)],
    ['or try again at 1:05 AM.', time(17, 1, 6)],
    ['Please try again in 1.5s.', request.at + 1_500],
    ['try again later.', undefined],
  ])('%s', (words, resetsAt) => {
    const outcome = failsWith(`You’ve hit your usage limit. ${words}`)
    expect(outcome.kind).toBe('rate-limit')
    expect(outcome.resetsAt).toBe(resetsAt)
  })

  test('it says so itself', () => {
    expect(play('limited-with-reset').outcome.resetsAt).toBe(new Date(2100, 0, 1, 0, 1).getTime())
    expect(play('limited').outcome.resetsAt).toBeUndefined()
  })
})

test('an attempt that is retried is no failure', () => {
  const { outcome, events } = play('reconnected')
  expect(outcome.finalText).toContain('All done.')
  expect(events).toContainEqual({ kind: 'retry', why: expect.stringContaining('Reconnecting... 1/1') })
})

test('commands are reported once and without the shell around them', () => {
  const { outcome, events } = play('ok')
  expect(outcome.ran).toEqual(['echo hi > f.txt'])
  expect(events.filter(({ kind }) => kind === 'tool')).toHaveLength(1)
  expect(play('patch').events).toContainEqual({
    kind: 'tool',
    name: 'file_change',
    summary: '/home/somebody/project/a.txt',
  })
})

test("errors use the client's words", () => {
  expect(play('auth').outcome.message).toContain('invalid x-api-key')
  expect(play('model-of-plan').outcome.message).toBe('The nope model is not supported with a ChatGPT account.')
  expect(play('bad-flag').outcome.message).toBe("error: unexpected argument '--no-such-flag' found")
  expect(play('no-session').outcome.message).toContain('no rollout found')
})

test('a failure after its success is no success', () => {
  const parser = codex.parser(request)
  parser.push('{"type":"turn.completed","usage":{}}', 'out')
  expect(parser.end({ code: 1, signal: null }, new Map()).kind).toBe('crash')
})

describe('the command', () => {
  const exec = ['codex', 'exec', '--json', '--skip-git-repo-check']
  const bypass = '--dangerously-bypass-approvals-and-sandbox'
  const resume = { id: 's', costUsd: 0 }

  test.each<[story: string, changed: Partial<Request>, argv: string[]]>([
    ['bypasses permissions', {}, [...exec, bypass, '-']],
    ['leaves them to its own settings', { permissions: 'ask' }, [...exec, '-']],
    [
      'takes a model, a session and arguments of its own',
      { permissions: 'ask', model: 'm', resume, extraArgs: ['-s', 'workspace-write'] },
      [...exec, '--model', 'm', '-s', 'workspace-write', 'resume', 's', '-'],
    ],
    ['can be another program', { target: '/opt/codex' }, ['/opt/codex', ...exec.slice(1), bypass, '-']],
    ['talks to a person', { mode: 'interactive' }, ['codex', bypass, '--', 'Work.']],
    ['goes on talking', { mode: 'interactive', resume }, ['codex', bypass, 'resume', 's', '--', 'Work.']],
  ])('%s', (_, changed, argv) => {
    expect(codex.command({ ...request, ...changed }).argv).toEqual(argv)
  })
})
