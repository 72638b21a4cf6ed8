/** The extension in a simulated Pi, for moments that a real one reaches only by chance. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Context, Pi } from './host.ts'
import ralph from './main.ts'

const home = mkdtempSync(join(tmpdir(), 'ralph-pi-'))
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
beforeEach(() => {
  vi.stubEnv('RALPH_HOME', home)
  vi.stubEnv('RALPH_LOOP_ID', '')
  rmSync(join(home, 'asked'), { force: true })
})
afterEach(() => vi.unstubAllEnvs())

const TURN = { next: 'turn', status: 'running', prompt: 'Go on.', loop: 'abc', iteration: 1, max_iterations: 5 }

/** A program that gives these answers in turn and repeats the last one; a string is printed as is, `sleep` never answers. */
function answers(...list: (object | string)[]): void {
  writeFileSync(
    join(home, 'hook.cjs'),
    `const fs = require('fs'), log = ${JSON.stringify(join(home, 'asked'))}
const list = ${JSON.stringify(list)}, ask = fs.readFileSync(0, 'utf8')
fs.appendFileSync(log, ask + '\\n')
const n = fs.readFileSync(log, 'utf8').trim().split('\\n').length - 1
const answer = list[Math.min(n, list.length - 1)]
if (answer === 'sleep') { process.stderr.write('{"checking":"npm test"}\\n'); setInterval(() => {}, 1000) }
else console.log(typeof answer === 'string' ? answer : JSON.stringify(answer))`,
  )
}

function asked(): Record<string, unknown>[] {
  return readFileSync(join(home, 'asked'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

type Handler = (event: object, context: Context) => unknown

function play() {
  const handlers = new Map<string, Handler>()
  const commands = new Map<string, (args: string, context: Context) => Promise<void>>()
  const sent: unknown[] = []
  const seen = {
    notices: [] as string[],
    status: [] as unknown[],
    widget: [] as unknown[],
    editor: '',
    isStale: false,
    isIdle: true,
    /** Which option is chosen; none: the dialog stays open until it is closed. */
    choice: undefined as number | 'escape' | undefined,
    ways: [] as string[],
  }
  let key: ((data: string) => unknown) | undefined
  const context: Context = {
    ui: {
      theme: { fg: (_, text) => text, bg: (_, text) => text },
      select: (_, ways, { signal } = {}) => {
        seen.ways = ways
        if (seen.choice === 'escape') return Promise.resolve(undefined)
        if (seen.choice !== undefined) return Promise.resolve(ways[seen.choice])
        return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(undefined)))
      },
      notify: (text) => void seen.notices.push(text),
      setStatus: (_, text) => void seen.status.push(text),
      setWidget: (_, lines) => void seen.widget.push(lines),
      setEditorText(text) {
        seen.editor = text
      },
      onTerminalInput(handler) {
        key = handler
        return () => (key = undefined)
      },
    },
    mode: 'tui',
    hasUI: true,
    cwd: home,
    sessionManager: { getSessionId: () => 's-1', getEntries: () => [] },
    isIdle() {
      if (seen.isStale) throw new Error('This extension ctx is stale')
      return seen.isIdle
    },
    abort() {
      seen.isIdle = true
    },
    getSystemPrompt: () => 'You are.',
  }
  const pi = {
    on: (name: string, handler: Handler) => void handlers.set(name, handler),
    registerCommand: (name: string, { handler }: { handler(args: string, context: Context): Promise<void> }) =>
      void commands.set(name, handler),
    registerMessageRenderer() {},
    sendMessage(message: unknown) {
      if (seen.isStale) throw new Error('This extension ctx is stale')
      sent.push(message)
      seen.isIdle = false
      void handlers.get('agent_start')?.({}, context)
    },
    sendUserMessage: (content: unknown) => void sent.push(content),
  }
  ralph(pi as Pi)
  return {
    seen,
    sent,
    commands,
    type: (name: string, args = '') => commands.get(name)?.(args, context),
    tell: async (name: string, event: object = {}) => await handlers.get(name)?.({ entries: [], ...event }, context),
    press: (data: string) => key?.(data),
  }
}

const says = (text: string) => ({
  message: { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop' },
})

test('an agent inside a loop has no loop of its own', () => {
  vi.stubEnv('RALPH_LOOP_ID', 'abc')
  expect(play().commands.size).toBe(0)
})

test('continues through the entries of the boundary, and cleans up at the end', async () => {
  answers(
    TURN,
    { ...TURN, iteration: 2, prompt: 'Again.' },
    { next: 'none', status: 'completed', promise: 'P', iteration: 2 },
  )
  const { type, tell, sent, seen } = play()
  await type('ralph-loop', ' "x"\ny ')
  expect(sent).toMatchObject([{ customType: 'ralph-loop', content: 'Go on.', display: true }])
  await tell('message_end', says('One.'))
  expect(await tell('agent_before_settle', { outcome: 'completed', entries: ['theirs'] })).toMatchObject({
    entries: ['theirs', { type: 'custom_message', customType: 'ralph-loop', content: 'Again.' }],
    continue: true,
  })
  await tell('message_end', says('Two.'))
  expect(await tell('agent_before_settle', { outcome: 'completed' })).toBeUndefined()
  await tell('agent_settled')
  expect(asked()).toMatchObject([
    { host: 'pi', event: 'command', command: 'loop', args: ' "x"\ny ', session_id: 's-1', cwd: home },
    { event: 'stop', outcome: 'completed', last_assistant_message: 'One.' },
    { event: 'stop', last_assistant_message: 'Two.' },
  ])
  expect(seen.notices).toEqual(['Ralph: Completion detected: <promise>P</promise>'])
  expect([seen.status.at(-1), seen.widget.at(-1)]).toEqual([undefined, undefined])
})

test('a compaction is reported with the end of the turn', async () => {
  answers(TURN, { ...TURN, iteration: 2 }, { next: 'none', status: 'completed' })
  const { type, tell } = play()
  await type('ralph-loop', 'x')
  await tell('message_end', says('One.'))
  await tell('agent_before_settle', { outcome: 'completed' })
  await tell('session_compact')
  await tell('message_end', says('Two.'))
  await tell('agent_before_settle', { outcome: 'completed' })
  const [, first, second] = asked()
  expect([first?.compacted_at, second?.compacted_at]).toEqual([undefined, expect.any(Number)])
})

test('a program that prints garbage is reported once, and the session is left alone', async () => {
  answers(TURN, 'nonsense')
  const { type, tell, seen } = play()
  await type('ralph-loop', 'x')
  await tell('message_end', says('One.'))
  expect(await tell('agent_before_settle', { outcome: 'completed' })).toBeUndefined()
  expect(await tell('agent_before_settle', { outcome: 'completed' })).toBeUndefined()
  expect(await tell('input', { text: 'something else', source: 'interactive' })).toBeUndefined()
  expect(await tell('input', { text: '/constructor it', source: 'interactive' })).toBeUndefined()
  expect(seen.notices).toEqual([expect.stringContaining('gave no answer')])
})

test('a run that settles without reaching the boundary was stopped by the user', async () => {
  answers(TURN, { next: 'none', status: 'paused' })
  const { type, tell } = play()
  await type('ralph-loop', 'x')
  await tell('agent_settled')
  expect(asked()[1]).toMatchObject({ event: 'stop', outcome: 'aborted' })
})

test('ESC during a check stops it at once, and adds nothing more to the session', async () => {
  answers(TURN, 'sleep', { next: 'none', status: 'paused' })
  const { type, tell, press, seen } = play()
  await tell('session_start')
  await type('ralph-loop', 'x')
  const boundary = tell('agent_before_settle', { outcome: 'completed' })
  await vi.waitFor(() => expect(String(seen.widget.at(-1))).toContain('checking: npm test'))
  expect(press('\x1b')).toBeUndefined()
  expect(await boundary).toBeUndefined()
  await vi.waitFor(() => expect(asked()).toHaveLength(3))
  expect(asked()[2]).toMatchObject({ event: 'command', command: 'pause' })
})

test('cancel during a check does not wait for its end, and status still answers', async () => {
  answers(
    TURN,
    'sleep',
    { next: 'none', status: 'running', show: [{ text: 'Iteration 1.' }] },
    { next: 'none', status: 'cancelled' },
  )
  const { type, tell, seen } = play()
  await type('ralph-loop', 'x')
  const boundary = tell('agent_before_settle', { outcome: 'completed' })
  await vi.waitFor(() => expect(String(seen.widget.at(-1))).toContain('checking'))
  await type('ralph-status')
  expect(seen.notices).toEqual(['Iteration 1.'])
  await type('cancel-ralph')
  expect(await boundary).toBeUndefined()
  expect(asked().map(({ command }) => command)).toEqual(['loop', undefined, 'status', 'cancel'])
})

test('text from another extension raises no question; text from the user does', async () => {
  answers(TURN)
  const { type, tell, seen } = play()
  seen.choice = 'escape'
  await type('ralph-loop', 'x')
  expect(await tell('input', { text: 'a', source: 'extension' })).toBeUndefined()
  expect(seen.ways).toEqual([])
  expect(await tell('input', { text: 'b', source: 'interactive' })).toEqual({ action: 'handled' })
  expect(seen.ways.map((way) => way.split(/[: ]/)[0])).toEqual(['Steer', 'Pause', 'End'])
  expect(seen.editor).toBe('b')
  expect(asked()).toHaveLength(1)
})

test('a steering message goes to the next iteration; the turn continues', async () => {
  const told = { next: 'none', status: 'running', iteration: 1, show: [{ level: 'info', text: 'Told.' }] }
  answers(TURN, told, { ...TURN, iteration: 2, prompt: 'Again.' })
  const { type, tell, seen, sent } = play()
  await type('ralph-loop', 'x')
  seen.choice = 0
  expect(await tell('input', { text: 'Use tabs.', source: 'interactive' })).toEqual({ action: 'handled' })
  expect(asked()[1]).toMatchObject({ event: 'command', command: 'steer', args: 'Use tabs.' })
  expect([seen.notices, seen.isIdle, sent.length]).toEqual([['Told.'], false, 1])
  await tell('message_end', says('One.'))
  expect(await tell('agent_before_settle', { outcome: 'completed' })).toMatchObject({ continue: true })
})

test.each([
  ['pause', 1, 'paused'],
  ['cancel', 2, 'cancelled'],
] as const)('choosing to %s stops the turn, and then what was typed is sent', async (command, choice, status) => {
  answers(TURN, { next: 'none', status })
  const { type, tell, seen, sent } = play()
  await type('ralph-loop', 'x')
  seen.choice = choice
  const answered = tell('input', { text: 'c', source: 'interactive', images: [{ type: 'image' }] })
  expect(await answered).toEqual({ action: 'handled' })
  await tell('agent_settled')
  await vi.waitFor(() => expect(sent.at(-1)).toEqual([{ type: 'text', text: 'c' }, { type: 'image' }]))
  expect(asked().map((ask) => ask.command)).toEqual(['loop', command])
})

test('the question closes itself when the loop ends, and the text is back in the editor', async () => {
  answers(TURN, { next: 'none', status: 'completed', iteration: 1 })
  const { type, tell, seen, sent } = play()
  await type('ralph-loop', 'x')
  const answered = tell('input', { text: 'c', source: 'interactive' })
  await vi.waitFor(() => expect(seen.ways).toHaveLength(3))
  await tell('message_end', says('One.'))
  await tell('agent_before_settle', { outcome: 'completed' })
  expect(await answered).toEqual({ action: 'handled' })
  expect([seen.editor, sent.length]).toEqual(['c', 1])
  expect(asked().map((ask) => ask.command)).toEqual(['loop', undefined])
})

test('words for the next iteration do not wait for the checks', async () => {
  answers(TURN, 'sleep', { next: 'none', status: 'verifying', show: [{ level: 'info', text: 'Told.' }] })
  const { type, tell, seen } = play()
  await type('ralph-loop', 'x')
  await tell('message_end', says('One.'))
  const boundary = tell('agent_before_settle', { outcome: 'completed' })
  await vi.waitFor(() => expect(String(seen.widget.at(-1))).toContain('checking'))
  await type('ralph-steer', 'Use tabs.')
  expect(seen.notices).toEqual(['Told.'])
  await type('cancel-ralph')
  await boundary
})

test('a command over several lines is a command', async () => {
  answers(TURN)
  const { tell } = play()
  expect(await tell('input', { text: '/ralph-loop\nBuild\nit', source: 'interactive' })).toEqual({ action: 'handled' })
  expect(asked()).toMatchObject([{ command: 'loop', args: 'Build\nit' }])
})

test('a session that Pi has left during a wait is not touched again', async () => {
  const waitMs = 50
  answers(TURN, { ...TURN, next: 'wait', wait_ms: waitMs, status: 'waiting' }, { next: 'none', status: 'paused' })
  const { type, tell, seen, sent } = play()
  await type('ralph-loop', 'x')
  await tell('agent_before_settle', { outcome: 'error' })
  await tell('agent_settled')
  await tell('session_shutdown', { reason: 'new' })
  seen.isStale = true
  await sleep(waitMs) // a timer that is set later fires later: the wait would be over now
  const next = play()
  await next.tell('session_start')
  await vi.waitFor(() => expect(next.seen.notices).toEqual([expect.stringMatching(/loop abc is paused.*resume abc/)]))
  expect(sent).toHaveLength(1)
  expect(asked().map(({ event, command }) => command ?? event)).toEqual(['loop', 'stop', 'pause'])
})

test('a wait ends with a turn, and a turn that Pi refuses to start is reported', async () => {
  answers(TURN, { ...TURN, next: 'wait', wait_ms: 10, status: 'waiting', iteration: 0 }, TURN)
  const { type, tell, seen, sent } = play()
  await type('ralph-loop', 'x')
  await tell('agent_before_settle', { outcome: 'error' })
  expect(seen.status.at(-1)).toBe('Ralph iteration: 1/5')
  seen.isIdle = true
  await tell('agent_settled')
  await vi.waitFor(() => expect(sent).toHaveLength(2))
  expect(asked().at(-1)).toMatchObject({ event: 'woke' })
  const refused = play()
  refused.seen.isStale = true
  await refused.type('ralph-loop', 'x')
  expect(refused.seen.notices.at(-1)).toContain('stale')
})

test('a turn that is paused midway and resumed before its end is judged as usual', async () => {
  const paused = { ...TURN, next: 'none', status: 'paused', show: [{ text: 'Paused.' }] }
  answers(TURN, paused, { ...TURN, show: [] }, { ...TURN, iteration: 2, prompt: 'Again.' })
  const { type, tell, sent, seen } = play()
  await type('ralph-loop', 'x')
  await type('ralph-pause')
  await type('ralph-resume')
  expect(sent).toHaveLength(1)
  await tell('message_end', says('One.'))
  expect(await tell('agent_before_settle', { outcome: 'completed' })).toMatchObject({ continue: true })
  await type('ralph-resume')
  expect(seen.notices).toEqual(['Paused.', "Ralph: this session's loop is running."])
  expect(asked().map(({ event, command }) => command ?? event)).toEqual(['loop', 'pause', 'resume', 'stop'])
})

test('a pause is reported once, although the current turn ends later', async () => {
  const paused = { ...TURN, next: 'none', status: 'paused', show: [{ text: 'Paused.' }] }
  answers(TURN, paused, paused)
  const { type, tell, seen } = play()
  await type('ralph-loop', 'x')
  await type('ralph-pause')
  expect(seen.status.at(-1)).toBe('Ralph iteration: 1/5')
  expect(await tell('agent_before_settle', { outcome: 'completed' })).toBeUndefined()
  expect(seen.notices).toEqual(['Paused.'])
  expect(seen.status.at(-1)).toBeUndefined()
})

test('typed text is the answer when the loop waits for one, and does not concern ralph once it has ended', async () => {
  answers(TURN, { ...TURN, next: 'none', status: 'needs-input' }, TURN, {
    next: 'none',
    status: 'halted',
    reason: 'max-iterations',
    max_iterations: 5,
  })
  const { type, tell, sent, seen } = play()
  await type('ralph-loop', 'x')
  await tell('agent_before_settle', { outcome: 'completed' })
  await tell('agent_settled')
  expect(await tell('input', { text: 'Blue.', source: 'interactive' })).toEqual({ action: 'handled' })
  expect(asked()[2]).toMatchObject({ event: 'prompt', prompt: 'Blue.' })
  expect(sent).toHaveLength(2)
  await tell('agent_before_settle', { outcome: 'completed' })
  expect(seen.notices).toEqual(['Ralph: Max iterations (5) reached'])
  expect(await tell('input', { text: 'Thanks.', source: 'interactive' })).toBeUndefined()
})

test('only what the user must see is shown between two turns', async () => {
  const show = [{ text: 'ralph: iteration 2 of 5' }, { level: 'warning', text: 'A test was deleted.' }]
  answers(TURN, { ...TURN, iteration: 2, show, checks: [{ check: 'npm test', result: 'fail' }] })
  const { type, tell, seen } = play()
  await type('ralph-loop', 'x')
  await tell('agent_before_settle', { outcome: 'completed' })
  expect(seen.notices).toEqual(['A test was deleted.'])
  expect(String(seen.widget.at(-1))).toContain('last check: ✗ npm test')
})

const FOREIGN = { path: '/shop/.pi/agents/worker.md', text: 'You work.', mark: 'm1' }
const UNTRUSTED = {
  ...{ next: 'none', status: 'none', trust: FOREIGN },
  show: [{ level: 'error', text: 'ralph: trust it first.' }],
}

test('asks whether an agent of the repository may be used, and passes on what was agreed to', async () => {
  answers(UNTRUSTED, TURN)
  const { seen, type } = play()
  seen.choice = 0
  await type('ralph-loop', 'Build it --context process --subagent worker')
  expect(seen.ways).toEqual(['Trust this version', 'No'])
  expect(asked().map(({ trusts }) => trusts)).toEqual([undefined, 'm1'])
  expect(seen.notices).not.toContain('ralph: trust it first.')
})

test.each([1, 'escape'] as const)('starts nothing with an agent that was not agreed to: %s', async (choice) => {
  answers(UNTRUSTED)
  const { seen, sent, type } = play()
  seen.choice = choice
  await type('ralph-loop', 'Build it --context process --subagent worker')
  expect([asked().length, sent]).toEqual([1, []])
  expect(seen.notices).toContain('ralph: trust it first.')
})
