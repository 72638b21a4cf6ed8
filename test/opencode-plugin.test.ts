/** OpenCode's plugin with a small script in place of hook.cjs, and an OpenCode that only logs its requests. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, expect, test, vi } from 'vitest'
import type { Hooks, Host, Message, Part } from '../plugins/opencode/host.d.mts'
import { makePlace, until } from './ralph.ts'

afterEach(() => vi.unstubAllEnvs())

/** A session `s` whose hook.cjs runs these lines with its input as `told`; `answer` prints. */
async function open(lines: string) {
  const { root, dir, home } = makePlace({ git: false })
  mkdirSync(home)
  vi.stubEnv('RALPH_HOME', home)
  vi.stubEnv('RALPH_NODE', process.execPath)
  const note = `const note = (what) => require('fs').appendFileSync(${JSON.stringify(join(root, 'told'))}, JSON.stringify(what) + '\\n')`
  const begin = `${note}\nconst told = JSON.parse(require('fs').readFileSync(0, 'utf8')); note(told)`
  const answer =
    'const answer = (value) => console.log(JSON.stringify({ status: "none", next: "none", show: [], ...value }))'
  writeFileSync(join(home, 'hook.cjs'), `${begin}\n${answer}\n${lines}\n`)
  copyFileSync(resolve('plugins/opencode/ralph.js'), join(root, 'ralph.mjs'))
  const { Ralph } = (await import(pathToFileURL(join(root, 'ralph.mjs')).href)) as { Ralph(host: Host): Promise<Hooks> }

  const messages: Message[] = []
  const shown: string[] = []
  const seen: string[] = []
  const prompts: object[] = []
  const busy: Record<string, object> = {}
  const host: Host = {
    directory: dir,
    client: {
      session: {
        messages: async () => ({ data: messages }),
        status: async () => ({ data: busy }),
        prompt: async ({ body }) =>
          void shown.push(...(body as { parts: { text: string }[] }).parts.map(({ text }) => text)),
        promptAsync: async ({ body }) => void prompts.push(body),
      },
      tui: {
        showToast: async ({ body }) => {
          const { variant, message } = body as { variant: string; message: string }
          shown.push(`${variant}: ${message}`)
        },
      },
    },
  }
  const hooks = await Ralph(host)
  /** Logs what the user sees, and returns what is sent to the model. */
  const seeing = (parts: Part[]) => {
    seen.push(...parts.filter(({ synthetic }) => !synthetic).map(({ text }) => text))
    return parts.find(({ ignored }) => !ignored)?.text ?? ''
  }
  const happens = (type: string, sessionID = 's', error?: { name: string }) =>
    hooks.event({ event: { type, properties: { sessionID, ...(error ? { error } : {}) } } })
  return {
    hooks,
    shown,
    seen,
    prompts,
    busy,
    happens,
    messages,
    home,
    told: () =>
      existsSync(join(root, 'told'))
        ? readFileSync(join(root, 'told'), 'utf8')
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line))
        : [],
    /** What is sent to the model, or undefined. */
    async command(name: string, args = ''): Promise<string | undefined> {
      const parts: Part[] = [{ type: 'text', text: `ralph:${name}` }]
      const sent = hooks['command.execute.before'](
        { command: `ralph:${name}`, sessionID: 's', arguments: args },
        { parts },
      )
      return sent.then(() => seeing(parts)).catch(() => undefined)
    },
    /** A message from the user or the loop; what the model gets of it. */
    async says(text: string, id: string): Promise<string> {
      const parts: Part[] = [{ id: 'prt_1', type: 'text', text }]
      await hooks['chat.message']({ sessionID: 's' }, { message: { id }, parts })
      messages.push({ info: { id, sessionID: 's', role: 'user', agent: 'plan' }, parts })
      return seeing(parts)
    },
    answers(text: string, more: Partial<Message['info']> = {}): void {
      const tokens = { input: 100, output: 20, reasoning: 0, cache: { read: 0, write: 0 } }
      const info = {
        id: 'a',
        sessionID: 's',
        role: 'assistant' as const,
        finish: 'stop',
        tokens,
        cost: 0.5,
        ...more,
      }
      const tool = { type: 'tool', text: '', tool: 'bash', state: { input: { command: 'npm test' } } }
      messages.push({ info, parts: [tool, { type: 'text', text }] })
    },
  }
}

const TURNS = `
  const running = { status: 'running', loop: 'abc' }
  const says = (...texts) => texts.map((text) => ({ level: 'info', text: 'ralph: ' + text }))
  if (told.command === 'loop' || told.command === 'resume')
    answer({ ...running, next: 'turn', prompt: 'Turn 1', show: says('begun', 'before') })
  if (told.command === 'help') answer({ show: [{ level: 'info', text: 'Help' }] })
  if (told.command === 'status') answer({ ...running, show: [{ level: 'info', text: 'Status' }] })`

test('a command that starts a turn is sent as that turn, and shown as typed', async () => {
  const { command, told, seen } = await open(TURNS)
  expect(await command('loop', ' it\'s "two"\n  lines ')).toBe('Turn 1')
  expect(seen).toEqual(['/ralph:loop it\'s "two"\n  lines\n\nralph: begun\n\nralph: before'])
  expect(told()).toMatchObject([
    { host: 'opencode', session_id: 's', event: 'command', args: ' it\'s "two"\n  lines ' },
  ])
})

test('ralph learns which process OpenCode is', async () => {
  const { command, shown } = await open("answer({ show: [{ level: 'info', text: process.env.RALPH_HOST_PID }] })")
  await command('status')
  expect(shown).toEqual([String(process.pid)])
})

test('no argument of a command gets into a template, which could run it', async () => {
  const { hooks } = await open('')
  const config: Parameters<Hooks['config']>[0] = {}
  await hooks.config(config)
  const templates = Object.values(config.command ?? {}).map(({ template }) => template)
  expect(templates).toHaveLength(7)
  for (const template of templates) expect(template).toMatch(/^ralph:\w+ \$999999999$/)
})

test('the end of a turn is reported once with its outcome, and the next turn has the same agent', async () => {
  const { command, says, answers, happens, told, prompts } = await open(
    `${TURNS}\n if (told.event === 'stop') answer({ ...running, next: 'turn', prompt: 'Turn 2', show: says('iteration 2') })`,
  )
  await command('loop')
  await says('Turn 1', 'u1')
  answers('Worked.')
  await happens('session.idle', 'child')
  await happens('session.idle')
  await happens('session.idle')
  await until('the next turn', () => prompts.length === 1)
  expect(told().slice(1)).toMatchObject([
    {
      event: 'stop',
      outcome: 'completed',
      last_assistant_message: 'Worked.',
      tokens: 120,
      cost_usd: 0.5,
      ran: ['npm test'],
    },
  ])
  const parts = [
    { type: 'text', text: 'ralph: iteration 2', ignored: true },
    { type: 'text', text: 'Turn 2', synthetic: true },
  ]
  expect(prompts).toMatchObject([{ agent: 'plan', parts }])
})

test.each([
  ['before its last message knows it', { finish: undefined as never }, { name: 'MessageAbortedError' }, 'aborted'],
  [
    'in its last message',
    { error: { name: 'APIError', data: { message: 'slow', statusCode: 429 } } },
    undefined,
    'error',
  ],
  ['that was recovered from', {}, { name: 'ContextOverflowError' }, 'completed'],
])('an error %s', async (_, info, error, outcome) => {
  const { command, says, answers, happens, told } = await open(TURNS)
  await command('loop')
  await says('Turn 1', 'u1')
  answers('Half', info)
  if (error) await happens('session.error', 's', error)
  await happens('session.idle')
  await until('the report', () => told().length === 2)
  expect(told()[1]).toMatchObject({ outcome, ...(outcome === 'error' ? { error_message: '429 slow' } : {}) })
})

test('a compaction is reported with the end of the turn', async () => {
  const { command, says, answers, happens, told } = await open(TURNS)
  await command('loop')
  await says('Turn 1', 'u1')
  await happens('session.compacted')
  answers('Worked.')
  await happens('session.idle')
  await until('the report', () => told().length === 2)
  expect(told()[1]).toMatchObject({ event: 'stop', compacted_at: expect.any(Number) })
})

test('a wait is kept even when the user asks for the status, and then the loop continues', async () => {
  const { command, says, answers, happens, told, prompts, shown } = await open(`${TURNS}
    if (told.event === 'stop') answer({ ...running, status: 'waiting', next: 'wait', wait_ms: 400 })
    if (told.event === 'woke') answer({ ...running, next: 'turn', prompt: 'Turn 1' })`)
  await command('loop')
  await says('Turn 1', 'u1')
  answers('')
  await happens('session.idle')
  await until('the wait', () => told().length === 2)
  expect(await command('status')).toBeUndefined()
  expect(await command('help')).toBeUndefined()
  await happens('session.idle') // of the user's own shell command
  await until('the next turn', () => prompts.length === 1)
  expect(told().map(({ event }) => event)).toEqual(['command', 'stop', 'command', 'command', 'woke'])
  expect(shown).toEqual(['Status', 'Help'])
})

test('what the user says while checks run stops them, and is sent to the model as is', async () => {
  const { command, says, answers, happens, told, prompts } = await open(`${TURNS}
    if (told.event === 'stop') setTimeout(() => {}, 60_000)
    process.on('SIGTERM', () => { note({ event: 'ended' }); process.exit() })
    if (told.event === 'stop') note({ event: 'checking' })
    if (told.event === 'prompt') answer({ status: 'paused', loop: 'abc' })`)
  await command('loop')
  await says('Turn 1', 'u1')
  answers('Worked.')
  await happens('session.idle')
  await until('the checks', () => told().length === 3)
  expect(await says('Wait, something else.', 'u2')).toBe('Wait, something else.')
  await says('And this.', 'u3')
  expect(told().map(({ event }) => event)).toEqual(['command', 'stop', 'checking', 'ended', 'prompt'])
  expect(prompts).toEqual([])
})

test('several notices during a turn are merged', async () => {
  const { command, says, shown, busy } = await open(`${TURNS}
    if (told.command === 'cancel')
      answer({ status: 'cancelled', loop: 'abc', show: [...says('cancelled'), { level: 'warning', text: 'ralph noticed: x' }] })`)
  await command('loop')
  await says('Turn 1', 'u1')
  busy.s = { type: 'busy' }
  expect(await command('cancel')).toBeUndefined()
  expect(shown).toEqual(['warning: cancelled\nralph noticed: x'])
})

test('the answer to a question becomes the next turn', async () => {
  const { command, says, answers, happens, told, seen } = await open(`${TURNS}
    if (told.event === 'stop') answer({ ...running, status: 'needs-input', show: [{ level: 'warning', text: 'Which?' }] })
    if (told.event === 'prompt') answer({ ...running, next: 'turn', prompt: 'Turn 2: ' + told.prompt })`)
  await command('loop')
  await says('Turn 1', 'u1')
  answers('<ask>Which?</ask>')
  await happens('session.idle')
  await until('the question', () => told().length === 2)
  expect(await says('Blue.', 'u2')).toBe('Turn 2: Blue.')
  expect(seen.at(-1)).toBe('Blue.')
  await happens('session.idle')
  await until('the end of that turn', () => told().length === 4)
})

test('a fresh turn is sent without earlier messages', async () => {
  const { command, says, hooks, messages } = await open(
    "answer({ status: 'running', loop: 'abc', next: 'turn', prompt: 'Turn 1', fresh: true })",
  )
  await says('Long ago.', 'u0')
  await command('loop')
  await says('Turn 1', 'u1')
  const sent = { messages: [...messages] }
  await hooks['experimental.chat.messages.transform']({}, sent)
  expect(sent.messages.map(({ info }) => info.id)).toEqual(['u1'])
})

test.each([
  ['prints garbage', 'console.log("oops")', /gave no answer/],
  ['crashes', 'process.exit(3)', /gave no answer.*\(3\)/],
  ['says nothing', '', undefined],
])('a hook.cjs that %s leaves the session alone', async (_, lines, words) => {
  const { command, shown, says } = await open(lines)
  expect(await command('loop')).toBeUndefined()
  if (words) expect(shown).toEqual([expect.stringMatching(words)])
  else expect(shown).toEqual([])
  expect(await says('Hello.', 'u1')).toBe('Hello.')
})

test('without Node it says so and leaves the session alone', async () => {
  const { command, shown } = await open('')
  vi.stubEnv('RALPH_NODE', '/nonexistent/node')
  expect(await command('loop')).toBeUndefined()
  expect(shown).toEqual([expect.stringMatching(/gave no answer.*ENOENT/)])
})
