import { describe, expect, test } from 'vitest'
import { HOSTS } from '../../session/hosts.ts'
import { readPayload } from './payload.ts'

type Env = Record<string, string>

/** As recorded, without what is not read. */
const STOPS: [host: string, payload: object, env: Env][] = [
  [
    'claude',
    {
      session_id: 's',
      transcript_path: '/t',
      cwd: '/p',
      prompt_id: '5487',
      permission_mode: 'default',
      hook_event_name: 'Stop',
      stop_hook_active: false,
      last_assistant_message: 'x',
      background_tasks: [],
    },
    {},
  ],
  ['codex', { session_id: 's', turn_id: 't', transcript_path: '/t', cwd: '/p', hook_event_name: 'Stop' }, {}],
  ['gemini', { session_id: 's', cwd: '/p', hook_event_name: 'AfterAgent', prompt: 'x', prompt_response: 'y' }, {}],
  ['copilot', { session_id: 's', cwd: '/p', hook_event_name: 'Stop', stop_reason: 'end_turn' }, { COPILOT_CLI: '1' }],
  ['copilot', { sessionId: 's', cwd: '/p', hookEventName: 'agentStop', transcriptPath: '/t' }, { COPILOT_CLI: '1' }],
  ['qwen', { session_id: 's', cwd: '/p', prompt_id: 'x', context_usage: 0.1, hook_event_name: 'Stop' }, {}],
  ['qwen', { session_id: 's', cwd: '/p', hook_event_name: 'Stop' }, { QWEN_CODE_SESSION_ID: 's' }],
  ['droid', { session_id: 's', cwd: '/x', message_id: 'm', hook_event_name: 'Stop' }, { FACTORY_PROJECT_DIR: '/p' }],
  ['cursor', { conversation_id: 's', workspace_roots: ['/p', '/q'], hook_event_name: 'stop', status: 'completed' }, {}],
  ['pi', { host: 'pi', event: 'stop', session_id: 's', cwd: '/p' }, {}],
  ['opencode', { host: 'opencode', event: 'stop', session_id: 's', cwd: '/p' }, {}],
  ['kilo', { host: 'kilo', event: 'stop', session_id: 's', cwd: '/p' }, {}],
]

test.each(STOPS)('recognizes the end of a turn in %s', (host, payload, env) => {
  const said = readPayload(JSON.stringify(payload), env)
  expect(said?.from).toEqual({ host, shim: 'host' in payload, during: 'stop', session: 's', dir: '/p' })
})

test.each(['stop', 'prompt'])('an event without a name is the one that the gate was called for: %s', (called) => {
  const payload = JSON.stringify({ sessionId: 's', timestamp: 1, cwd: '/p', prompt: 'x' })
  expect(readPayload(payload, { COPILOT_CLI: '1' }, called)).toMatchObject({
    event: called,
    from: { host: 'copilot', shim: false, during: called, session: 's', dir: '/p' },
  })
  expect(readPayload(payload, { COPILOT_CLI: '1' })).toBeUndefined()
})

test.each([
  ['claude-code_2-1-325_harness', true],
  ['claude-code_2-1-163_agent', true],
  ['claude-code_2-1-162_harness', undefined],
  ['claude-code_2-0-400_harness', undefined],
  ['claude-code_3-0-0', true],
  ['something-else_2-1-325', undefined],
  [undefined, undefined],
])('its version says whether Claude Code takes feedback at a stop: %s', (agent, feedback) => {
  const stop = { session_id: 's', cwd: '/p', hook_event_name: 'Stop' }
  const from = (payload: object) => readPayload(JSON.stringify(payload), agent ? { AI_AGENT: agent } : {})?.from
  expect(from(stop)?.feedback).toBe(feedback)
  expect(from({ ...stop, turn_id: 't' })?.feedback).toBeUndefined() // Codex, started by Claude Code
})

test('every host has such a payload', () => {
  const known = new Set(STOPS.map(([host]) => host))
  expect(Object.keys(HOSTS).filter((host) => !known.has(host))).toEqual([])
})

test.each<[host: string, payload: object, env: Env]>([
  ['claude', { hook_event_name: 'UserPromptSubmit', prompt: 'x' }, {}],
  ['codex', { hook_event_name: 'UserPromptSubmit', turn_id: 't' }, {}],
  ['gemini', { hook_event_name: 'BeforeAgent' }, {}],
  ['qwen', { hook_event_name: 'UserPromptSubmit', submitted_prompt: 'x' }, {}],
  ['copilot', { hook_event_name: 'UserPromptSubmit' }, { COPILOT_CLI: '1' }],
  ['cursor', { hook_event_name: 'beforeSubmitPrompt', conversation_id: 's' }, {}],
  ['pi', { host: 'pi', event: 'command' }, {}],
  ['pi', { host: 'pi', event: 'woke' }, {}],
])('recognizes what the user typed in %s', (host, payload, env) => {
  const said = readPayload(JSON.stringify({ session_id: 's', cwd: '/p', ...payload }), env)
  expect(said?.from).toMatchObject({ host, during: 'prompt', session: 's', dir: '/p' })
})

describe('the folder', () => {
  const stop = { session_id: 's', cwd: '/p/sub', hook_event_name: 'Stop' }
  test.each<[what: string, payload: object, env: Env, dir: string | undefined]>([
    ['is the one the agent is in', stop, {}, '/p/sub'],
    ['is the project, if the host names it', stop, { CLAUDE_PROJECT_DIR: '/p' }, '/p'],
    ['is the project of Droid', stop, { FACTORY_PROJECT_DIR: '/p' }, '/p'],
    ['is the one the agent is in, if the project is empty', stop, { CLAUDE_PROJECT_DIR: '' }, '/p/sub'],
    ['is what a shim says', { ...stop, host: 'pi', event: 'stop' }, { CLAUDE_PROJECT_DIR: '/x' }, '/p/sub'],
    ['is unknown if nothing names it', { session_id: 's', hook_event_name: 'Stop' }, {}, undefined],
    ['is unknown if its name is invalid', { ...stop, cwd: 7, workspace_roots: [7] }, {}, undefined],
  ])('%s', (_, payload, env, dir) => {
    expect(readPayload(JSON.stringify(payload), env)?.from.dir).toBe(dir)
  })
})

test.each<[what: string, text: string]>([
  ['nothing', ''],
  ['not JSON', 'Stop'],
  ['a list', '[{"hook_event_name":"Stop"}]'],
  ['a number', '7'],
  ['null', 'null'],
  ['truncated JSON', '{"hook_event_name":"Stop","session_id":"s","cwd":"/p"'],
  ['no event', '{"session_id":"s","cwd":"/p"}'],
  ['no session', '{"hook_event_name":"Stop","cwd":"/p"}'],
  ['an empty session', '{"hook_event_name":"Stop","session_id":"","cwd":"/p"}'],
  ['a session that is not a string', '{"hook_event_name":"Stop","session_id":7,"cwd":"/p"}'],
  ['an event that is not a string', '{"hook_event_name":["Stop"],"session_id":"s","cwd":"/p"}'],
  ['an empty folder', '{"hook_event_name":"Stop","session_id":"s","cwd":""}'],
])('does not concern us: %s', (_, text) => {
  expect(readPayload(text, {})).toBeUndefined()
})
