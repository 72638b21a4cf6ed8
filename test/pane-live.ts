/** A real client in a terminal, opened as a dispatcher opens it, with a program that records its reports. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, type TestContext, test } from 'vitest'
import type { Agent, Request } from '../src/agents/agent.ts'
import { readScreen, type Sight } from '../src/agents/read-screen.ts'
import { seedsFor } from './client-seeds.ts'
import { type Client, installClient, pathWith } from './clients.ts'
import { type ModelServer, type Reply, startModelServer } from './model-server.ts'
import { endCarriers, makePlace, type Place, until } from './ralph.ts'
import { hasTmux, openTerminal, type Terminal } from './tmux.ts'

export type Payload = Record<string, unknown> & { hook_event_name: string }

export type PaneTest = {
  /** A test that is skipped, with its name, if the client or tmux is missing. */
  live(title: string, body: (context: TestContext) => Promise<void>): void
  place: Place
  bash(command: string): Reply
  /** The model's replies from now on; the last one is repeated. */
  script(...replies: Reply[]): void
  requests(): unknown[]
  open(changed?: Partial<Request>, more?: Record<string, string | undefined>): Terminal
  /** What was reported since the script last changed. */
  reports(event: string): Payload[]
  reported(event: string): Promise<Payload>
  sight(terminal: Terminal): Sight
  /** Waits until its input line accepts text. */
  ready(terminal: Terminal): Promise<void>
  /** Pastes a prompt and submits it, as a dispatcher does: at once, unless the client needs a moment. */
  give(terminal: Terminal, text: string): Promise<void>
  /** Says yes to a question. Clients ignore keys in the first moment, to prevent accidents. */
  answer(terminal: Terminal, taken: () => boolean): Promise<void>
}

/** 30 KB, with text that programs between a user and a model tend to change. */
export const LONG: string = Array.from(
  { length: 230 },
  (_, n) =>
    `## Part ${n}\n\n\`\`\`ts\n\tif (a) { b(\`$\{c}\`) } // "$(touch PWNED)" 'd' \\n\n\`\`\`\n任务 🦉 é  two blanks\nEOF\n`,
).join('\n')

export function openPane(client: Client, agent: Agent): PaneTest {
  let bin: string | undefined
  let server: ModelServer
  let place: Place
  let env: Record<string, string | undefined>
  let replies: Reply[] = []
  let opened: Terminal | undefined
  let [from, reportedFrom] = [0, 0]
  const notes = () => join(place.root, 'told.jsonl')
  const payloads = () => (existsSync(notes()) ? readFileSync(notes(), 'utf8').trim().split('\n') : []).filter(Boolean)

  beforeAll(async () => {
    const installed = installClient(client)
    if ('missing' in installed) return console.log(`skipped: ${client.name}: ${installed.missing}`)
    place = makePlace()
    server = await startModelServer((_, number) => replies[number - from] ?? replies.at(-1) ?? {}, client)
    env = { ...place.env, PATH: pathWith(installed.bin), LANG: 'C.UTF-8', RALPH_TEST: place.root }
    env = { ...env, ...client.prepare(join(place.root, 'home'), server.url), ...seedsFor(client.name, place) }
    mkdirSync(join(place.root, 'pane'))
    const note = `fs.appendFileSync(${JSON.stringify(notes())}, fs.readFileSync(0, 'utf8').trim() + '\\n')`
    writeFileSync(join(place.root, 'hook.cjs'), `const fs = require('node:fs')\n${note}\n`)
    bin = installed.bin
  }, 400_000)

  afterAll(async () => {
    await server?.close()
    endCarriers(`RALPH_TEST=${place?.root}`)
  })

  const reports = (event: string) =>
    payloads()
      .slice(reportedFrom)
      .map((line): Payload => JSON.parse(line))
      .filter(({ hook_event_name: name }) => name === event)

  function show(cause: Error): never {
    throw new Error(`${cause.message}\n${opened?.visible()}`, { cause })
  }

  const pane: PaneTest = {
    get place() {
      return place
    },
    live: (title, body) =>
      test(title, async (context) => {
        context.skip(bin === undefined, `${client.name} cannot be installed here`)
        context.skip(!hasTmux, 'tmux is not installed')
        await body(context)
      }),
    bash: (command) => ({ tools: [client.bash(command)] }),
    script(...next) {
      replies = next
      from = server.requests.length
      reportedFrom = payloads().length
    },
    requests: () => server.requests.slice(from),
    open(changed = {}, more = {}) {
      const folder = join(place.root, 'pane')
      const hook = [process.execPath, join(place.root, 'hook.cjs')]
      const reporting = agent.pane?.({ hook, plugins: resolve('plugins'), folder })
      for (const { path, text } of reporting?.files ?? []) writeFileSync(path, text)
      const command = agent.command({
        prompt: '',
        mode: 'interactive',
        permissions: 'bypass',
        sandbox: true,
        target: '',
        dir: place.dir,
        folder,
        self: () => [],
        at: 0,
        ...changed,
        extraArgs: [...(changed.extraArgs ?? []), ...(reporting?.args ?? [])],
      })
      opened = openTerminal(command.argv, {
        dir: place.dir,
        env: { ...env, ...command.env, ...reporting?.env, ...more },
      })
      return opened
    },
    reports,
    async reported(event) {
      await until(`the report ${event} of ${client.name}`, () => reports(event).length > 0, 30_000).catch(show)
      return reports(event).at(-1) as Payload
    },
    sight: (terminal) => {
      if (!agent.screen) throw new Error(`The screen of ${agent.name} is unknown.`)
      return readScreen(agent.screen, terminal.visible())
    },
    async ready(terminal) {
      const isFree = () => {
        const { working, asks, input } = pane.sight(terminal)
        return !working && asks === undefined && input === 'empty'
      }
      await until(`the input line of ${client.name}`, isFree, 30_000).catch(show)
    },
    async give(terminal, text) {
      await pane.ready(terminal)
      const settleMs = agent.screen?.settleMs
      if (settleMs === undefined) terminal.pasteAtOnce(text)
      else await terminal.paste(text, settleMs)
    },
    async answer(terminal, taken) {
      for (let tries = 0; tries < 10; tries++) {
        if (pane.sight(terminal).asks !== undefined) terminal.press('Enter')
        if (await until('the answer to be accepted', taken, 2_000).catch(() => false)) return
      }
      show(new Error('The answer was not accepted.'))
    },
  }
  return pane
}
