import { describe, expect, test } from 'vitest'
import { acp } from './acp.ts'
import type { AgentEvent, Exit, Outcome, Request } from './agent.ts'

const request: Request = {
  prompt: 'Please work.',
  mode: 'headless',
  permissions: 'bypass',
  sandbox: false,
  target: 'my-agent --acp',
  extraArgs: [],
  dir: '/project',
  folder: '/tmp',
  self: () => [],
  at: Date.UTC(2026, 0, 1),
}

type Message = Record<string, unknown>

/** Talks to the parser as an agent would; every entry is sent once ralph has sent what comes before it. */
function talk(
  said: readonly (Message | string)[],
  changed: Partial<Request> = {},
  exit: Exit = { code: 0, signal: null },
): { outcome: Outcome; events: AgentEvent[]; heard: Message[]; done: boolean } {
  const asked = { ...request, ...changed }
  const parser = acp.parser(asked)
  const heard: Message[] = [JSON.parse(acp.command(asked).stdin)]
  const events: AgentEvent[] = []
  let done = false
  for (const message of said) {
    const line = typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message })
    const pushed = parser.push(line, 'out')
    events.push(...pushed.events)
    done ||= pushed.done === true
    if (pushed.write) heard.push(JSON.parse(pushed.write))
  }
  return { outcome: parser.end(exit, new Map()), events, heard, done }
}

const ready = { id: 1, result: { protocolVersion: 1, agentCapabilities: { loadSession: true } } }
const session = { id: 2, result: { sessionId: 's1' } }
const says = (text: string) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
const ended = (stopReason: string, more: object = {}) => ({ id: 3, result: { stopReason, ...more } })

function update(value: object): Message {
  return { method: 'session/update', params: { sessionId: 's1', update: value } }
}

test('introduces itself, opens a session in the folder, sends the prompt, and is complete at the end of the turn', () => {
  const { heard, outcome, done } = talk([ready, session, says('All '), says('done.'), ended('end_turn')])
  expect(heard).toMatchObject([
    { id: 1, method: 'initialize', params: { protocolVersion: 1 } },
    { id: 2, method: 'session/new', params: { cwd: '/project', mcpServers: [] } },
    { id: 3, method: 'session/prompt', params: { sessionId: 's1', prompt: [{ type: 'text', text: 'Please work.' }] } },
  ])
  expect(outcome).toMatchObject({ kind: 'ok', finalText: 'All done.', session: { id: 's1' }, denied: [], ran: [] })
  expect(done).toBe(true)
})

test('the command line is split without a shell and holds no prompt', () => {
  expect(acp.command({ ...request, extraArgs: ['--x'] })).toMatchObject({
    argv: ['my-agent', '--acp', '--x'],
    dialogue: true,
  })
})

test('what comes before a tool is not the last word, and its command is reported', () => {
  const tool = update({ sessionUpdate: 'tool_call', kind: 'execute', title: 'Run', rawInput: { command: 'npm test' } })
  const { outcome, events } = talk([ready, session, says('I will.'), tool, says('Done.'), ended('end_turn')])
  expect(outcome).toMatchObject({ finalText: 'Done.', ran: ['npm test'] })
  expect(events).toContainEqual({ kind: 'tool', name: 'execute', summary: 'npm test' })
})

test('a tool whose command arrives later is named by it, once', () => {
  const called = update({ sessionUpdate: 'tool_call', toolCallId: 'c1', kind: 'execute', title: 'bash', rawInput: {} })
  const begun = update({
    sessionUpdate: 'tool_call_update',
    toolCallId: 'c1',
    status: 'in_progress',
    title: 'Shell: npm test',
    rawInput: { command: 'npm test' },
  })
  const over = update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' })
  const silent = update({ sessionUpdate: 'tool_call', toolCallId: 'c2', kind: 'execute', title: 'make' })
  const done = update({ sessionUpdate: 'tool_call_update', toolCallId: 'c2', status: 'failed' })
  const { outcome, events } = talk([ready, session, called, begun, begun, over, silent, done, ended('end_turn')])
  expect(events.filter(({ kind }) => kind === 'tool')).toEqual([
    { kind: 'tool', name: 'execute', summary: 'npm test' },
    { kind: 'tool', name: 'execute', summary: 'make' },
  ])
  expect(outcome.ran).toEqual(['npm test', 'make'])
})

test.each<[said: string, kind: Outcome['kind']]>([
  ['Error: Failed to get response from the AI model; retried 5 times. Last error: 429 slow down', 'rate-limit'],
  ['Error: Authentication failed with provider at http://127.0.0.1:1/v1 (HTTP 401).\n  Check your key.', 'auth'],
])('an error that a client reports as words of its agent: %s', (said, kind) => {
  const retries = says('Info: Request failed due to a transient API error. Retrying...')
  const { outcome, events } = talk([ready, session, retries, retries, says(said), ended('end_turn')])
  expect(outcome).toMatchObject({ kind, finalText: '', message: said.split('\n')[0]?.slice('Error: '.length) })
  expect(events.filter((event) => event.kind === 'warning')).toHaveLength(2)
})

test('an agent that worked may speak of errors', () => {
  const words = says('Error: 429 is what the server said, and I handle it now.')
  const usage = { usage: { inputTokens: 100, outputTokens: 20 } }
  expect(talk([ready, session, words, ended('end_turn', usage)]).outcome.kind).toBe('ok')
  expect(talk([ready, session, says('Error: my mistake, mended.'), ended('end_turn')]).outcome.kind).toBe('ok')
})

test("what a client says in its agent's name is not the agent's word", () => {
  const warning = says('Model metadata for `gpt-5.5` not found. Defaulting to fallback metadata.')
  const { outcome } = talk([ready, session, says('Done.'), warning, ended('end_turn')])
  expect(outcome.finalText).toBe('Done.')
})

test('resumes a session if the agent can, and ignores its replayed past', () => {
  const resume = { id: 's0', costUsd: 0.5 }
  const cost = update({ sessionUpdate: 'usage_update', cost: { amount: 0.75, currency: 'USD' } })
  const { heard, outcome } = talk(
    [ready, says('old words'), { id: 2, result: {} }, says('New.'), cost, ended('end_turn')],
    { resume },
  )
  expect(heard[1]).toMatchObject({ method: 'session/load', params: { sessionId: 's0' } })
  expect(outcome).toMatchObject({ finalText: 'New.', session: { id: 's0', costUsd: 0.75 }, costUsd: 0.25 })
})

test('a missing session is replaced by a new one', () => {
  const gone = { id: 2, error: { code: -32_602, message: 'not found' } }
  const { heard } = talk([ready, gone, session, ended('end_turn')], { resume: { id: 's0', costUsd: 0 } })
  expect(heard.map(({ method }) => method)).toEqual(['initialize', 'session/load', 'session/new', 'session/prompt'])
})

test('an agent that refuses every session is given up', () => {
  const gone = { id: 2, error: { code: -32_602, message: 'no session for you' } }
  const { heard, outcome, done } = talk([ready, gone, gone], { resume: { id: 's0', costUsd: 0 } })
  expect(heard.map(({ method }) => method)).toEqual(['initialize', 'session/load', 'session/new'])
  expect([outcome.kind, done]).toEqual(['unknown', true])
})

describe('a permission', () => {
  const options = [
    { optionId: 'no', kind: 'reject_once' },
    { optionId: 'yes', kind: 'allow_once' },
  ]
  const asks = { id: 77, method: 'session/request_permission', params: { options, toolCall: { title: 'rm x' } } }

  test('is given when they are bypassed', () => {
    const { heard, outcome } = talk([ready, session, asks, ended('end_turn')])
    expect(heard[3]).toEqual({ jsonrpc: '2.0', id: 77, result: { outcome: { outcome: 'selected', optionId: 'yes' } } })
    expect(outcome.denied).toEqual([])
  })

  test('is denied, and reported, when a person must be asked', () => {
    const { heard, outcome } = talk([ready, session, asks, ended('end_turn')], { permissions: 'ask' })
    expect(heard[3]).toMatchObject({ result: { outcome: { optionId: 'no' } } })
    expect(outcome.denied).toEqual(['rm x'])
  })
})

test('a request that ralph does not support is refused', () => {
  const { heard } = talk([ready, session, { id: 9, method: 'fs/read_text_file', params: {} }, ended('end_turn')])
  expect(heard[3]).toMatchObject({ id: 9, error: { code: -32_601 } })
})

test.each<[story: string, error: object, kind: Outcome['kind']]>([
  ['the status as the code', { code: 401, message: 'Unauthorized' }, 'auth'],
  ['a limit in the message', { code: -32_603, message: 'Internal error: Rate limit reached' }, 'rate-limit'],
  [
    'a limit in the data',
    { code: -32_603, message: 'Internal error', data: { codex_error_info: { http_status_code: 429 } } },
    'rate-limit',
  ],
  [
    'a login in the details',
    { code: -32_603, message: 'x', data: { details: '[API Error: 401 Incorrect API key]' } },
    'auth',
  ],
  ['nothing useful', { code: -32_603, message: 'Internal error' }, 'unknown'],
])('an error with %s', (_, error, kind) => {
  const { outcome, done } = talk([ready, session, { id: 3, error }])
  expect(outcome.kind).toBe(kind)
  expect(done).toBe(true)
})

test.each<[string, Outcome['kind']]>([
  ['max_turn_requests', 'ok'],
  ['refusal', 'refused'],
  ['cancelled', 'killed'],
  ['max_tokens', 'unknown'],
  ['from-the-future', 'unknown'],
  ['constructor', 'unknown'],
])('stop reason %s is %s', (reason, kind) => {
  expect(talk([ready, session, says('x'), ended(reason)]).outcome.kind).toBe(kind)
})

test('tokens are read if an agent reports them', () => {
  expect(
    talk([ready, session, ended('end_turn', { usage: { inputTokens: 100, outputTokens: 20 } })]).outcome.tokens,
  ).toBe(120)
  const quota = { _meta: { quota: { token_count: { input_tokens: 7, output_tokens: 3 } } } }
  expect(talk([ready, session, ended('end_turn', quota)]).outcome).toMatchObject({
    tokens: 10,
    usage: { input: 7, cached: 0, output: 3 },
  })
  expect(talk([ready, session, ended('end_turn', { usage: { totalTokens: 9 } })]).outcome).toMatchObject({ tokens: 9 })
})

test.each([
  [
    'what was cached among the input',
    { inputTokens: 2000, cachedReadTokens: 800, outputTokens: 46, totalTokens: 2046 },
  ],
  ['cached tokens separately', { inputTokens: 1200, cachedReadTokens: 800, outputTokens: 46, totalTokens: 2046 }],
  ['thoughts in the total alone', { inputTokens: 1200, cachedReadTokens: 800, outputTokens: 41, totalTokens: 2046 }],
])('tokens of agents that count %s', (_, usage) => {
  expect(talk([ready, session, ended('end_turn', { usage })]).outcome).toMatchObject({
    tokens: 2046,
    usage: { input: 1200, cached: 800, output: 46 },
  })
})

test('tokens of an agent that counts each answer are added up', () => {
  const _meta = { usage: { inputTokens: 1000, outputTokens: 23, totalTokens: 1023, cachedReadTokens: 0 } }
  const answer = update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: '' }, _meta })
  const { outcome } = talk([ready, session, answer, says('Done.'), answer, ended('end_turn')])
  expect(outcome).toMatchObject({ tokens: 2046, finalText: 'Done.' })
})

test('an agent that exits before its turn ends has crashed', () => {
  expect(talk([ready, session, says('x')]).outcome.kind).toBe('crash')
  expect(talk([], {}, { code: null, signal: 'SIGKILL' }).outcome.kind).toBe('killed')
  expect(talk([ready], {}, { code: 143, signal: null, stopped: 'silent' }).outcome.kind).toBe('killed')
})

test('it does not matter how an agent exits that has said everything', () => {
  expect(
    talk([ready, session, says('Done.'), ended('end_turn')], {}, { code: null, signal: 'SIGTERM' }).outcome.kind,
  ).toBe('ok')
})

test.each(['', '{', 'plain words', '{"jsonrpc":"2.0"}', '{"method":"session/update"}', '[]', 'null'])(
  'lets %j pass',
  (line) => {
    expect(talk([line, ready, line, session, line, says('Done.'), ended('end_turn')]).outcome).toMatchObject({
      kind: 'ok',
      finalText: 'Done.',
    })
  },
)
