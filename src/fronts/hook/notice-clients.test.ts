/** What Copilot, Qwen and Droid reported in a pane, as recorded, and the resulting mail. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readNotice } from './notice.ts'

const folder = mkdtempSync(join(tmpdir(), 'ralph-notice-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const tell = (payload: object, env = {}) => readNotice(JSON.stringify({ cwd: '/work', ...payload }), env, () => 0)

describe('Copilot', () => {
  const session = { session_id: 'c6a7' }
  const env = { COPILOT_CLI: '1' }

  test('for a long paste it reports the file, and the mail has its text', async () => {
    const file = join(folder, 'paste & more.txt')
    writeFileSync(file, 'A long prompt.\n')
    const prompt = `<pasted_content file="${file.replace('&', '&amp;')}" size="23.9 KB" lines="1840" />`
    const told = { hook_event_name: 'UserPromptSubmit', ...session, prompt }
    expect(await tell(told, env)).toEqual({ kind: 'prompt', words: 'A long prompt.\n', session: 'c6a7' })
    expect(await tell(told)).toMatchObject({ words: prompt })
    rmSync(file)
    expect(await tell(told, env)).toMatchObject({ words: prompt })
  })

  test('only the last failed request ends its turn', async () => {
    const record = join(folder, 'session-state', 'c6a7')
    mkdirSync(record, { recursive: true })
    const data = { errorType: 'rate_limit', message: 'Last error: 429 Please try again in 20 minutes.' }
    const line = { type: 'session.error', timestamp: '2026-11-17T14:54:51.283Z', data }
    writeFileSync(join(record, 'events.jsonl'), `${JSON.stringify(line)}\n`)
    const told = { hook_event_name: 'ErrorOccurred', ...session, error_context: 'model_call', recoverable: true }
    const failed = (timestamp: string) => tell({ ...told, timestamp }, { ...env, COPILOT_HOME: folder })
    expect(await failed('2026-11-17T14:54:51.272Z')).toMatchObject({
      kind: 'stop',
      outcome: { kind: 'rate-limit', message: data.message, resetsAt: 20 * 60_000 },
    })
    expect(await failed('2026-11-17T14:55:00.000Z')).toBeUndefined()
  })

  test('asks for a permission in a notification', async () => {
    const told = {
      ...{ hook_event_name: 'Notification', notification_type: 'permission_prompt', sessionId: 'c6a7' },
      ...{ title: 'Permission needed', message: 'Run command: touch begun' },
    }
    expect(await tell(told, env)).toEqual({ kind: 'asks', question: 'Run command: touch begun' })
  })
})

describe('Qwen', () => {
  const turn = { session_id: '8ac2', prompt_id: '8ac2########9' }

  test('a prompt and its end have the same name; continuing after a tool is not a prompt', async () => {
    const prompt = { hook_event_name: 'UserPromptSubmit', ...turn, prompt: 'Go.', submitted_prompt: 'Go.' }
    const stop = { hook_event_name: 'Stop', ...turn, last_assistant_message: 'Fine.', context_usage: 0.0005 }
    expect(await tell(prompt)).toEqual({ kind: 'prompt', words: 'Go.', session: '8ac2', turn: '8ac2########9' })
    expect(await tell({ hook_event_name: 'UserPromptSubmit', ...turn, prompt: '' })).toBeUndefined()
    expect(await tell(stop)).toMatchObject({ kind: 'stop', turn: '8ac2########9', outcome: { kind: 'ok' } })
  })

  test('a rate limit ends its turn', async () => {
    const failure = { error: 'rate_limit', error_details: '429 Please try again in 20 minutes.' }
    expect(await tell({ hook_event_name: 'StopFailure', ...turn, ...failure })).toMatchObject({
      kind: 'stop',
      outcome: { kind: 'rate-limit', resetsAt: 20 * 60_000 },
    })
  })
})

describe('Droid', () => {
  const env = { FACTORY_PROJECT_DIR: '/work' }

  function stop(...last: object[]) {
    const transcript_path = join(folder, 'droid.jsonl')
    const lines = [{ id: '1', message: { role: 'user', content: [{ type: 'text', text: 'Go.' }] } }, ...last]
    writeFileSync(transcript_path, lines.map((line) => `${JSON.stringify({ type: 'message', ...line })}\n`).join(''))
    const told = { hook_event_name: 'Stop', session_id: '0f45', transcript_path, message_id: '2' }
    return tell(told, env)
  }

  test('an error shown instead of an answer is the outcome', async () => {
    const text =
      'BYOK Error: 429 {"error":{"message":"Please try again in 20 minutes."}}\n\nIf this persists, verify it.'
    const message = { role: 'user', content: [{ type: 'text', text }], visibility: 'user_only' }
    expect(await stop({ id: '2', message })).toEqual({
      kind: 'stop',
      session: '0f45',
      outcome: {
        ...{ kind: 'rate-limit', resetsAt: 20 * 60_000, message: 'BYOK Error: 429 Please try again in 20 minutes.' },
        ...{ finalText: '', tokens: 0, denied: [], ran: [] },
      },
    })
  })

  test('a tool that the user stopped is not an error', async () => {
    const result = { type: 'tool_result', is_error: true, content: 'Error: Tool execution cancelled by user' }
    expect(await stop({ id: '2', message: { role: 'user', content: [result] } })).toMatchObject({ outcome: 'aborted' })
  })
})
