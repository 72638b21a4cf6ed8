import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../host/place.test-support.ts'
import type { HostName } from './hosts.ts'
import { stoppedShort } from './record.ts'

const said = (role: string, text: string, more: object = {}) => ({
  type: role,
  message: { role, content: [{ type: 'text', text }] },
  ...more,
})
const event = (type: string, more: object = {}) => ({ type: 'event_msg', payload: { type, ...more } })
const META = { type: 'file-history-snapshot' }
const ESC = said('user', '[Request interrupted by user]')
const ESC_IN_TOOL = said('user', '[Request interrupted by user for tool use]')
const ERROR = said('assistant', 'API Error: 500', { isApiErrorMessage: true })
const TURN = { type: 'assistant.turn_start' }
const SNAPSHOT = { type: 'system', subtype: 'file_history_snapshot', systemPayload: { snapshots: [] } }
const outcome = (reason: string) => ({ type: 'agent_turn_outcome', reason })
const message = (role: string, text: string, visibility?: string) => ({
  type: 'message',
  message: { role, content: [{ type: 'text', text }], visibility },
})
const telemetry = (name: string, more: object = {}) => ({
  type: 'system',
  systemPayload: { uiEvent: { 'event.name': `qwen-code.${name}`, ...more } },
})
const resumed = (content: string) => ({ type: 'user', message: { role: 'user', content } })
const COMMAND = { type: 'user', message: { role: 'user', content: '<command-name>/ralph:status</command-name>' } }

test.each<[story: string, host: HostName, lines: object[], short: boolean]>([
  ['Claude working', 'claude', [said('user', 'Build it'), said('assistant', 'I begin.')], false],
  ['Claude after Esc', 'claude', [said('assistant', 'I begin.'), ESC, META], true],
  ['Claude after Esc in a tool', 'claude', [ESC_IN_TOOL], true],
  ['Claude after an API error', 'claude', [said('user', 'Build it'), ERROR, META], true],
  ['Claude, asked for the status after Esc', 'claude', [ESC, COMMAND], true],
  ['Claude, working again after Esc', 'claude', [ESC, said('user', 'go on'), said('assistant', 'Yes.')], false],
  ['Codex working', 'codex', [event('task_complete'), event('task_started')], false],
  ['Codex after a turn', 'codex', [event('task_started'), event('task_complete')], false],
  ['Codex after Esc', 'codex', [event('task_started'), event('turn_aborted', { reason: 'interrupted' })], true],
  ['Codex after an error', 'codex', [event('task_complete', { error: { message: '500' } })], true],
  ['Claude, told to continue after Esc', 'claude', [ESC, resumed('<command-name>/ralph:resume</command-name>')], false],
  ['Copilot working', 'copilot', [{ type: 'abort' }, TURN, { type: 'tool.execution_start' }], false],
  ['Copilot after a turn', 'copilot', [TURN, { type: 'assistant.turn_end' }, { type: 'hook.start' }], false],
  ['Copilot after Esc', 'copilot', [TURN, { type: 'abort', data: { reason: 'user_initiated' } }], true],
  ['Copilot after an error', 'copilot', [TURN, { type: 'session.error' }, { type: 'hook.end' }], true],
  ['Copilot that was quit', 'copilot', [TURN, { type: 'session.shutdown' }], true],
  ['Droid working', 'droid', [outcome('cancelled'), message('user', 'Build it')], false],
  ['Droid after a turn', 'droid', [message('assistant', 'It is built.'), outcome('completed')], false],
  ['Droid after Esc', 'droid', [message('user', 'Build it'), outcome('cancelled')], true],
  ['Droid after an error', 'droid', [outcome('model_request_rejected'), message('user', '', 'user_only')], true],
  ['Droid, asked for the status after Esc', 'droid', [outcome('cancelled'), message('user', 'ralph:status')], true],
  ['Droid, told to continue after Esc', 'droid', [outcome('cancelled'), message('user', 'ralph:resume')], false],
  ['Qwen working', 'qwen', [{ type: 'user' }, telemetry('api_response'), { type: 'assistant' }], false],
  ['Qwen after a turn', 'qwen', [{ type: 'user' }, { type: 'assistant', usageMetadata: {} }], false],
  ['Qwen in a tool', 'qwen', [{ type: 'tool_result', toolCallResult: { status: 'success' } }], false],
  ['Qwen after Esc', 'qwen', [telemetry('api_response'), { type: 'user' }, { type: 'assistant' }, SNAPSHOT], true],
  ['Qwen after Esc in a tool', 'qwen', [{ type: 'tool_result', toolCallResult: { status: 'cancelled' } }], true],
  ['Qwen after an error', 'qwen', [{ type: 'user' }, telemetry('api_error', { status_code: 400 })], true],
  ['Qwen, retrying', 'qwen', [{ type: 'user' }, telemetry('api_error', { status_code: 503 })], false],
  [
    'Qwen, working again after an error',
    'qwen',
    [telemetry('api_error', { status_code: 400 }), { type: 'user' }],
    false,
  ],
  ['a host whose transcript format is unknown', 'gemini', [ESC], false],
  ['an empty transcript', 'claude', [], false],
])('%s', (_, host, lines, short) => {
  const path = join(temporaryFolder(), 'record.jsonl')
  writeFileSync(path, `half a line"}\n${lines.map((line) => `${JSON.stringify(line)}\n`).join('')}`)
  expect(stoppedShort(host, path)).toBe(short)
})

test('a missing transcript says nothing', () => {
  expect([stoppedShort('claude', undefined), stoppedShort('claude', '/nowhere/x.jsonl')]).toEqual([false, false])
})
