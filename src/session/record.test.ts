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
const COMMAND = { type: 'user', message: { role: 'user', content: '<command-name>/ralph:status</command-name>' } }

test.each<[story: string, host: HostName, lines: object[], short: boolean]>([
  ['Claude at work', 'claude', [said('user', 'Build it'), said('assistant', 'I begin.')], false],
  ['Claude after Esc', 'claude', [said('assistant', 'I begin.'), ESC, META], true],
  ['Claude after Esc in a tool', 'claude', [ESC_IN_TOOL], true],
  ['Claude after an API error', 'claude', [said('user', 'Build it'), ERROR, META], true],
  ['Claude, asked for the status after Esc', 'claude', [ESC, COMMAND], true],
  ['Claude, at work again after Esc', 'claude', [ESC, said('user', 'go on'), said('assistant', 'Yes.')], false],
  ['Codex at work', 'codex', [event('task_complete'), event('task_started')], false],
  ['Codex after a turn', 'codex', [event('task_started'), event('task_complete')], false],
  ['Codex after Esc', 'codex', [event('task_started'), event('turn_aborted', { reason: 'interrupted' })], true],
  ['Codex after an error', 'codex', [event('task_complete', { error: { message: '500' } })], true],
  ['a host whose record is not known', 'droid', [ESC], false],
  ['an empty record', 'claude', [], false],
])('%s', (_, host, lines, short) => {
  const path = join(temporaryFolder(), 'record.jsonl')
  writeFileSync(path, `half a line"}\n${lines.map((line) => `${JSON.stringify(line)}\n`).join('')}`)
  expect(stoppedShort(host, path)).toBe(short)
})

test('a record that is not there tells nothing', () => {
  expect([stoppedShort('claude', undefined), stoppedShort('claude', '/nowhere/x.jsonl')]).toEqual([false, false])
})
