import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../host/place.test-support.ts'
import { readNotice } from './notice.ts'

const NOW = Date.UTC(2026, 0, 5, 9)

const read = (told: unknown, env: Readonly<Record<string, string>> = {}) =>
  readNotice(typeof told === 'string' ? told : JSON.stringify(told), env, () => NOW)

const claude = (event: string, more: object = {}) => ({ session_id: 's', cwd: '/p', hook_event_name: event, ...more })
const codex = (event: string, more: object = {}) => claude(event, { turn_id: 't1', ...more })
const shim = (event: string, more: object = {}) => ({ event, host: 'opencode', session_id: 's', cwd: '/p', ...more })

const ok = { kind: 'ok', tokens: 0, denied: [], ran: [] }

describe('reports', () => {
  test.each<[what: string, told: object, mail: object]>([
    ['Claude has started', claude('SessionStart', { source: 'startup' }), { kind: 'started', session: 's' }],
    ['Codex has started', claude('SessionStart'), { kind: 'started', session: 's' }],
    ['a shim has started', shim('started'), { kind: 'started', session: 's' }],
    ['a client without a session has started', { event: 'started', host: 'pi' }, { kind: 'started' }],
    ['another session', shim('session', { session_id: 'u' }), { kind: 'session', session: 'u' }],
    [
      'a prompt in Claude',
      claude('UserPromptSubmit', { prompt: 'Fix it' }),
      { kind: 'prompt', words: 'Fix it', session: 's' },
    ],
    [
      'a prompt with its id',
      claude('UserPromptSubmit', { prompt: 'x', prompt_id: 'p1' }),
      { kind: 'prompt', words: 'x', session: 's', turn: 'p1' },
    ],
    [
      'a prompt in Codex',
      codex('UserPromptSubmit', { prompt: 'x' }),
      { kind: 'prompt', words: 'x', session: 's', turn: 't1' },
    ],
    [
      'Qwen was given a long text',
      claude('UserPromptSubmit', { prompt: 'a long text', submitted_prompt: '[Pasted Content 680 chars]' }),
      { kind: 'prompt', session: 's', words: 'a long text' },
    ],
    [
      'a prompt in Qwen, as typed',
      claude('UserPromptSubmit', { prompt: 'x expanded', submitted_prompt: 'x' }),
      { kind: 'prompt', words: 'x', session: 's' },
    ],
    [
      'a prompt from a shim',
      shim('prompt', { prompt: 'x', turn: 't' }),
      { kind: 'prompt', words: 'x', session: 's', turn: 't' },
    ],
    [
      'Claude has stopped',
      claude('Stop', { last_assistant_message: 'Done.' }),
      { kind: 'stop', session: 's', outcome: { ...ok, finalText: 'Done.' } },
    ],
    [
      'Codex has stopped',
      codex('Stop', { last_assistant_message: 'Done.' }),
      { kind: 'stop', session: 's', turn: 't1', outcome: { ...ok, finalText: 'Done.' } },
    ],
    [
      'a shim has stopped',
      shim('stop', { last_assistant_message: 'Done.', tokens: 7, cost_usd: 0.5, turn: 't' }),
      { kind: 'stop', session: 's', turn: 't', outcome: { ...ok, finalText: 'Done.', tokens: 7, costUsd: 0.5 } },
    ],
    [
      'the user stopped it',
      shim('stop', { outcome: 'aborted', last_assistant_message: '' }),
      { kind: 'stop', session: 's', outcome: 'aborted' },
    ],
    [
      'it has stopped, but something keeps running',
      claude('Stop', { last_assistant_message: 'I wait.', background_tasks: [{ status: 'running' }] }),
      { kind: 'stop', session: 's', outcome: { ...ok, finalText: 'I wait.' }, background: true },
    ],
    [
      'Claude asks',
      claude('Notification', { message: 'Claude needs your permission', notification_type: 'permission_prompt' }),
      { kind: 'asks', question: 'Claude needs your permission' },
    ],
    [
      'Claude asks for a tool',
      claude('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'rm x' } }),
      { kind: 'asks', question: 'Allow Bash: rm x?' },
    ],
    [
      'Claude asks a question',
      claude('PermissionRequest', { tool_name: 'AskUserQuestion', tool_input: { questions: [{ question: 'Blue?' }] } }),
      { kind: 'asks', question: 'Blue?' },
    ],
    ['the user stopped Codex', codex('Interrupt'), { kind: 'stop', session: 's', turn: 't1', outcome: 'aborted' }],
    [
      'Codex asks for a file',
      codex('PermissionRequest', { tool_name: 'Edit', tool_input: { file_path: 'a.ts' } }),
      { kind: 'asks', question: 'Allow Edit: a.ts?' },
    ],
    [
      'it asks for something unknown',
      codex('PermissionRequest', { message: '', tool_input: null }),
      { kind: 'asks', question: 'Allow it?' },
    ],
    ['a shim asks', shim('asks', { question: 'Blue?' }), { kind: 'asks', question: 'Blue?' }],
    ['a tool has run', claude('PostToolUse', { tool_name: 'Bash' }), { kind: 'answered' }],
    ['a tool has failed', claude('PostToolUseFailure'), { kind: 'answered' }],
    ['a permission was denied', claude('PermissionDenied'), { kind: 'answered' }],
    ['a shim was answered', shim('answered'), { kind: 'answered' }],
    ['it has exited', { event: 'ended', code: 3 }, { kind: 'ended', code: 3 }],
    ['its terminal is gone', { event: 'ended', code: 129, closed: true }, { kind: 'ended', code: 129, closed: true }],
    ['it has exited, with no known code', { event: 'ended', code: 'x' }, { kind: 'ended', code: 1 }],
  ])('%s', async (_, told, mail) => {
    expect(await read(told)).toEqual(mail)
  })
})

describe('an error', () => {
  const failed = async (more: object) => {
    const mail = await read(claude('StopFailure', more))
    return mail?.kind === 'stop' ? mail.outcome : undefined
  }

  test('that is a rate limit has a reset time', async () => {
    const outcome = await failed({
      error: 'rate_limit',
      last_assistant_message: "You've hit your session limit · resets 3pm (UTC)",
    })
    expect(outcome).toMatchObject({ kind: 'rate-limit', resetsAt: Date.UTC(2026, 0, 5, 15) })
  })

  test.each<[more: object, kind: string]>([
    [{ error: 'rate_limit', last_assistant_message: '' }, 'rate-limit'],
    [{ error: 'server_error', error_details: '529 overloaded_error', last_assistant_message: '' }, 'overloaded'],
    [{ error: 'unknown', last_assistant_message: 'Something broke.' }, 'unknown'],
  ])('%j', async (more, kind) => {
    expect(await failed(more)).toMatchObject({ kind })
  })
})

describe('a failed request of Codex', () => {
  const end = (turn: string, error?: string) =>
    `${JSON.stringify({ type: 'event_msg', payload: { type: 'task_complete', turn_id: turn, ...(error ? { error: { message: error } } : {}) } })}\n`
  const file = () => join(temporaryFolder(), 'rollout.jsonl')
  const told = (path: string) => codex('PostModelRequest', { status: 'failed', error: '429', transcript_path: path })
  const LIMIT = 'You’ve hit your usage limit. Upgrade to Pro, or try again at Jan 9th, 2026 3:33 AM.'

  test('ends the turn that was given up because of it', async () => {
    const path = file()
    writeFileSync(path, `cut line\n${end('t0', 'another')}${end('t1', LIMIT)}{"half`)
    expect(await read(told(path))).toMatchObject({
      kind: 'stop',
      turn: 't1',
      outcome: { kind: 'rate-limit', message: LIMIT, resetsAt: new Date(2026, 0, 9, 3, 33).getTime() },
    })
  })

  test('is waited for: the transcript is written later', async () => {
    const path = file()
    writeFileSync(path, end('t0', 'another'))
    const reading = read(told(path))
    appendFileSync(path, end('t1', 'exceeded retry limit, last status: 429 Too Many Requests'))
    expect(await reading).toMatchObject({ kind: 'stop', outcome: { kind: 'rate-limit' } })
  })

  test('says nothing about a turn that continued and ended well', async () => {
    const path = file()
    writeFileSync(path, end('t1'))
    expect(await read(told(path))).toBeUndefined()
  })
})

test('reads the last message from the transcript if it is not passed', async () => {
  const file = join(temporaryFolder(), 'record.jsonl')
  const line = (role: string, text: string) => JSON.stringify({ message: { role, content: text } })
  writeFileSync(file, `${line('user', 'Fix it')}\n${line('assistant', 'Done.')}\n`)
  expect(await read(claude('Stop', { transcript_path: file }))).toMatchObject({ outcome: { finalText: 'Done.' } })
})

test.each<[what: string, told: unknown]>([
  ['not JSON', 'hello'],
  ['nothing', ''],
  ['half of the JSON', '{"event":"st'],
  ['a list', '[]'],
  ['null', 'null'],
  ['no event', { session_id: 's', cwd: '/p' }],
  ['an event that is not a string', { event: 7, session_id: 's' }],
  ['an unknown event', claude('PreCompact')],
  ['a request that did not fail', codex('PostModelRequest', { status: 'completed', error: null })],
  ['a session without its name', { event: 'session', host: 'pi' }],
  ['being idle', claude('Notification', { notification_type: 'idle_prompt', message: 'waiting' })],
  ['a login', claude('Notification', { notification_type: 'auth_success', message: 'ok' })],
  ['an empty prompt', claude('UserPromptSubmit', { prompt: ' \n' })],
  ['a prompt that is not a string', claude('UserPromptSubmit', { prompt: 7 })],
  ['the end of a background task', claude('UserPromptSubmit', { prompt: '\n<task-notification>\n<id>b1</id>' })],
])('is silent about %s', async (_, told) => {
  expect(await read(told)).toBeUndefined()
})
