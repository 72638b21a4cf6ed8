/** The shims of panes in clients that replay real events; a small script receives the reports. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, expect, test, vi } from 'vitest'
import type { Info, Pi, PiContext, Tui } from '../plugins/pane/host.d.mts'
import { type Line, makePlace, type Place, until } from './ralph.ts'

const load = async (name: string) => (await import(pathToFileURL(resolve('plugins/pane', name)).href)).default
const pi: (host: Pi) => void = await load('pi.js')
const opencode: { tui(api: Tui): Promise<void> } = await load('opencode.js')

afterEach(() => {
  vi.unstubAllEnvs()
  Reflect.deleteProperty(globalThis, 'ralphPane')
})

/** The script is slow, so that one call could overtake another. */
const SLOW = 'told=$(cat); sleep 0.05; printf "%s\\n" "$told" >> "$0"'

function listening(place: Place, hook = ['/bin/sh', '-c', SLOW, join(place.root, 'told')]) {
  vi.stubEnv('RALPH_PANE', 'crew/one')
  vi.stubEnv('RALPH_PANE_TELL', JSON.stringify(hook))
  const told = () => {
    const file = join(place.root, 'told')
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
    return lines.slice(0, -1).map((line) => JSON.parse(line) as Line)
  }
  return { reported: (count: number) => until(`${count} reports`, () => told().length >= count && told()) }
}

type Handler = (event: object, context: PiContext) => unknown

/** A Pi whose session is `s1`, and whose events are replayed. */
function openPi() {
  const handlers = new Map<string, Handler[]>()
  let press: (key: string) => void = () => {}
  const context = (more: Partial<PiContext> = {}): PiContext => ({
    cwd: '/work',
    sessionManager: { getSessionId: () => 's1' },
    isIdle: () => false,
    ui: {
      onTerminalInput(handler) {
        press = handler
        return () => {}
      },
    },
    ...more,
  })
  const host: Pi = {
    on: (name, handler) => void handlers.set(name, [...(handlers.get(name) ?? []), handler as Handler]),
  }
  pi(host)
  return {
    knows: () => handlers.size > 0,
    press: (key: string) => press(key),
    happens: (name: string, event: object = {}, more?: Partial<PiContext>) =>
      handlers.get(name)?.map((handler) => handler(event, context(more))),
  }
}

const said = (text: string, more: object = {}) => ({
  message: {
    role: 'assistant',
    content: [{ type: 'text', text }],
    usage: { input: 100, output: 20, cost: { total: 0.5 } },
    stopReason: 'stop',
    ...more,
  },
})
const LIMIT = { stopReason: 'error', errorMessage: '429: slow down' }

/** An OpenCode whose events are replayed. */
async function openOpencode() {
  const handlers = new Map<string, (event: { properties: object }) => void>()
  const api: Tui = {
    state: { path: { directory: '/work' }, session: { get: () => undefined } },
    route: { current: {} },
    event: { on: (type, handler) => void handlers.set(type, handler as (event: { properties: object }) => void) },
    lifecycle: { onDispose: () => {} },
  }
  await opencode.tui(api)
  const happens = (type: string, properties: object) => handlers.get(type)?.({ properties })
  const message = (id: string, info: Partial<Info>) =>
    happens('message.updated', { info: { id, sessionID: 's1', role: 'assistant', ...info } })
  const part = (messageID: string, what: object) =>
    happens('message.part.updated', {
      part: { id: `p-${messageID}`, sessionID: 's1', messageID, type: 'text', ...what },
    })
  return { knows: () => handlers.size > 0, happens, message, part }
}

test.each([
  ['a pane', { RALPH_PANE: '' }],
  ['a receiver', { RALPH_PANE_TELL: '' }],
  ['a command line', { RALPH_PANE_TELL: 'node hook.cjs' }],
])('they do nothing without %s', async (_, env) => {
  listening(makePlace({ git: false }))
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  expect(openPi().knows()).toBe(false)
  expect((await openOpencode()).knows()).toBe(false)
})

test('a missing program does not disturb the session', async () => {
  listening(makePlace({ git: false }), ['/nowhere/at/all'])
  const { happens } = openPi()
  happens('session_start')
  happens('input', { text: 'Work.' })
  await Promise.all(happens('session_shutdown') ?? [])
})

test('Pi reports in order, and a turn with all its retries once', async () => {
  const { reported } = listening(makePlace({ git: false }))
  const { happens } = openPi()
  happens('session_start')
  happens('input', { text: 'Work.' })
  happens('agent_start')
  happens('message_end', said('', LIMIT))
  happens('agent_end')
  happens('agent_start')
  happens('input', { text: 'And this.' })
  happens(
    'message_end',
    said('Half.', { content: [{ type: 'toolCall', name: 'bash', arguments: { command: 'make' } }] }),
  )
  happens('message_end', said('Done.'))
  happens('agent_end')
  happens('agent_settled')
  const told = await reported(4)
  expect(told.map(({ event }) => event)).toEqual(['started', 'prompt', 'prompt', 'stop'])
  expect(new Set(told.slice(1).map(({ turn }) => turn)).size).toBe(1)
  expect(told[3]).toMatchObject({
    ...{ host: 'pi', session_id: 's1', cwd: '/work', outcome: 'completed', last_assistant_message: 'Done.' },
    ...{ tokens: 360, cost_usd: 1.5, ran: ['make'] },
  })
})

test.each<[story: string, outcome: string, play: (pi: ReturnType<typeof openPi>) => void]>([
  ['an error', 'error', ({ happens }) => void happens('message_end', said('', LIMIT))],
  ['an interrupted tool', 'aborted', ({ happens }) => void happens('agent_end', {}, { signal: AbortSignal.abort() })],
  [
    'an interrupted wait for a retry',
    'aborted',
    ({ happens, press }) => {
      happens('message_end', said('', LIMIT))
      happens('agent_end')
      press('\x1b')
    },
  ],
])('a Pi turn that ends with %s is reported as %s', async (_, outcome, play) => {
  const { reported } = listening(makePlace({ git: false }))
  const host = openPi()
  host.happens('session_start')
  host.happens('agent_start')
  play(host)
  host.happens('agent_settled')
  const [, stop] = await reported(2)
  expect(stop).toMatchObject({ event: 'stop', outcome })
  expect(stop?.error_message).toBe(outcome === 'error' ? '429: slow down' : undefined)
})

test("OpenCode reports the user's prompts, and counts what subagents spend for it", async () => {
  const { reported } = listening(makePlace({ git: false }))
  const { happens, message, part } = await openOpencode()
  happens('session.created', { info: { id: 's1' } })
  message('m1', { role: 'user' })
  part('m1', { text: 'Read by the client.', synthetic: true })
  part('m1', { text: 'Work.' })
  happens('session.created', { info: { id: 's2', parentID: 's1' } })
  message('m2', { role: 'user', sessionID: 's2' })
  part('m2', { text: 'Look into it.', sessionID: 's2' })
  const tokens = { input: 100, output: 20, reasoning: 0, cache: { read: 0, write: 0 } }
  message('m3', { sessionID: 's2', tokens, cost: 0.5, finish: 'stop' })
  part('m3', { text: 'I looked.', sessionID: 's2' })
  happens('session.idle', { sessionID: 's2' })
  message('m4', { tokens, cost: 0.5, finish: 'stop' })
  part('m4', { text: 'Done.' })
  happens('session.idle', { sessionID: 's1' })
  happens('session.idle', { sessionID: 's1' })
  const told = await reported(4)
  expect(told.map(({ event }) => event)).toEqual(['session', 'prompt', 'stop', 'started'])
  expect(told[1]).toMatchObject({ host: 'opencode', session_id: 's1', prompt: 'Work.', turn: 'm1' })
  expect(told[2]).toMatchObject({ turn: 'm1', last_assistant_message: 'Done.', tokens: 240, cost_usd: 1, ran: [] })
})

test.each<[story: string, outcome: string, end: Partial<Info>, words?: string]>([
  ['an answer', 'completed', { finish: 'stop' }],
  ['a permission that the user refused', 'aborted', { finish: 'tool-calls' }],
  ['an interruption', 'aborted', { error: { name: 'MessageAbortedError' } }],
  [
    'an error that says when to retry',
    'error',
    {
      error: {
        name: 'APIError',
        data: { statusCode: 429, message: 'slow down', responseHeaders: { 'retry-after': '30' } },
      },
    },
    '429 slow down (retry-after: 30)',
  ],
])('an OpenCode turn that ends with %s is reported as %s', async (_, outcome, end, words) => {
  const { reported } = listening(makePlace({ git: false }))
  const { happens, message, part } = await openOpencode()
  message('m1', { role: 'user' })
  part('m1', { text: 'Work.' })
  message('m2', end)
  part('m2', {
    tool: 'bash',
    type: 'tool',
    state: { input: { command: 'make' }, error: 'The user rejected permission' },
  })
  happens('session.idle', { sessionID: 's1' })
  const stop = (await reported(4)).find(({ event }) => event === 'stop')
  expect(stop).toMatchObject({ outcome, ran: [] })
  expect(stop?.error_message).toBe(words)
})

test('OpenCode events in another format do not disturb it', async () => {
  listening(makePlace({ git: false }))
  const { happens } = await openOpencode()
  for (const type of [
    'session.created',
    'message.updated',
    'message.part.updated',
    'permission.asked',
    'question.asked',
  ])
    happens(type, {})
})

test('OpenCode reports a question that is not answered at once, until the last one is answered', async () => {
  const { reported } = listening(makePlace({ git: false }))
  const { happens } = await openOpencode()
  happens('permission.asked', { id: 'q1', permission: 'bash', metadata: { command: 'make' } })
  happens('permission.replied', { requestID: 'q1' })
  happens('permission.asked', { id: 'q2', permission: 'edit', patterns: ['a.txt'] })
  happens('question.asked', { id: 'q3', questions: [{ question: 'Which one?' }] })
  const told = await reported(3)
  expect(told.map(({ question }) => question)).toEqual([undefined, 'It asks for permission: edit a.txt', 'Which one?'])
  happens('question.rejected', { requestID: 'q3' })
  happens('permission.replied', { requestID: 'q2' })
  expect((await reported(4)).map(({ event }) => event)).toEqual(['started', 'asks', 'asks', 'answered'])
})
