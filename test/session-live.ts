/** Loops inside the sessions of real clients: the user's command starts them, the client's own events drive them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import { seedsFor } from './client-seeds.ts'
import { type Client, installClient, pathWith } from './clients.ts'
import { DONE, type ModelServer, type Reply, startModelServer } from './model-server.ts'
import { endCarriers, LAUNCHER, type Line, makePlace, type Place, query, until } from './ralph.ts'
import { openTerminal, type Terminal } from './tmux.ts'

export const PLUGIN: string = resolve('plugins/claude')

/** What the tests must know about a client in which a user starts loops. */
export type Host = {
  client: Client
  /** Registers the plugin with it, once. `root` is the folder of the marketplace. */
  install?: (root: string) => string[][]
  /** One prompt without a terminal; passed on standard input if `stdin` says so. */
  headless: string[]
  stdin?: true
  /** In a terminal. */
  terminal?: string[]
  /** What precedes the name of a command. */
  prefix: string
  /** The same in a terminal, if different. */
  terminalPrefix?: string
  /** No hook gets what was typed, so a loop starts when the first turn has ended. */
  late?: true
  /** Where the face of a loop is. */
  face: string
  /** Where ralph's own messages appear without a terminal. Absent: nowhere. */
  messagesIn?: (result: CommandResult) => string
  /** The key that stops it, if not Escape. */
  stopKey?: string
  /** What it shows when it has been interrupted and accepts input again. */
  stopped?: RegExp
  /** What it then shows of the answer to `status`, if not all. */
  stands?: RegExp
  /** In a terminal it does not show a hook's notes. */
  mute?: true
  /** Waits until it accepts a prompt, and answers its questions before that. */
  ready?(terminal: Terminal): Promise<void>
  /** What it shows in the middle of an answer, if not the answer's text. */
  answering?: RegExp
  /** Arguments that continue its last session. */
  again?: string[]
  /** What `ralph status` calls a loop whose turn was stopped by the user, in a tool or in an answer, or by an error. */
  rests?: Readonly<Record<'tool' | 'answer' | 'error', Resting>>
  /** Starts a new session in its terminal. */
  clear?(terminal: Terminal): Promise<void>
  /** The command that compacts a session, if not `/compact`. */
  compact?: string
  /** What it shows afterwards. */
  compacted?: RegExp
  /** An error that it does not retry for long, and what it shows of it. */
  fails?: { reply: Reply; shown: RegExp }
  /** Settings that the client needs besides the usual test settings. */
  settle?: (home: string) => void
}

type Resting = 'interrupted' | 'paused'

export function always(resting: Resting): Record<'tool' | 'answer' | 'error', Resting> {
  return { tool: resting, answer: resting, error: resting }
}

export type CommandResult = { code: number | null; stdout: string; stderr: string }

export type Sitting = {
  place: Place
  /** A test that is skipped, with its name, if the client is not available. */
  live(title: string, body: (context: TestContext) => Promise<void>): void
  bash(command: string): Reply
  /** The model's replies from now on; the last one is repeated. */
  script(replies: Reply[] | ((body: unknown, number: number) => Reply)): void
  /** What the model has been asked since then. */
  requests(): unknown[]
  /** One prompt to the client, run to completion. */
  ask(prompt: string, more?: string[]): Promise<CommandResult>
  /** The same, left running; `end` ends it. */
  start(prompt: string, more?: string[]): { ended: Promise<CommandResult>; end(signal: NodeJS.Signals): void }
  /** A session in a terminal that accepts prompts: the open one, unless there is none or more is requested. */
  terminal(more?: string[]): Promise<Terminal>
  /** Closes it, as a user would. */
  leave(): void
  /** The newest loop, from `ralph status --json`. */
  newest(): Promise<Line>
  /** Waits until the newest loop has ended and its session no longer loops. */
  over(): Promise<void>
  face: string
  /** Looping sessions. */
  armed(): string[]
}

/** One place per test file: the client is set up in it once, and every loop has its own session. */
export function openSitting(host: Host): Sitting {
  const { client } = host
  let bin: string | undefined
  let server: ModelServer
  let place: Place
  let env: Record<string, string | undefined>
  let replies: Reply[] | ((body: unknown, number: number) => Reply) = []
  let from = 0
  let starts = 0
  let terminal: Terminal | undefined

  beforeAll(async () => {
    const installed = installClient(client)
    if ('missing' in installed) return console.log(`skipped: ${client.name}: ${installed.missing}`)
    place = makePlace()
    server = await startModelServer((body, number) => {
      if (typeof replies === 'function') return replies(body, number - from)
      return replies[number - from] ?? replies.at(-1) ?? {}
    }, client)
    env = { ...place.env, PATH: pathWith(installed.bin), LANG: 'C.UTF-8', RALPH_TEST: place.root }
    env = { ...env, ...client.prepare(join(place.root, 'home'), server.url), ...seedsFor(client.name, place) }
    host.settle?.(join(place.root, 'home'))
    await place.ralph(['status'])
    // As `ralph install` leaves them, for clients that keep a copy of the plugin elsewhere.
    symlinkSync(resolve('dist/hook.cjs'), join(place.home, 'hook.cjs'))
    for (const argv of host.install?.(resolve('.')) ?? [])
      expect(await run(argv), argv.join(' ')).toMatchObject({ code: 0 })
    bin = installed.bin
  }, 400_000)

  afterAll(async () => {
    await server?.close()
    endCarriers(`RALPH_TEST=${place?.root}`)
  })

  function start([program = '', ...args]: string[], stdin = '') {
    const log = join(place.root, `stderr-${++starts}`)
    // Not a pipe of Node's own, which is a socket: a hook cannot print through that.
    const child = spawn(program, args, { cwd: place.dir, env, stdio: ['pipe', 'pipe', openSync(log, 'a')] })
    const result: CommandResult = { code: null, stdout: '', stderr: '' }
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (result.stdout += text))
    child.stdin?.on('error', () => {}) // it may exit without reading
    child.stdin?.end(stdin)
    const ended = once(child, 'close').then(
      ([code]): CommandResult => ({ ...result, code, stderr: readFileSync(log, 'utf8') }),
    )
    return { ended, end: (signal: NodeJS.Signals) => void child.kill(signal) }
  }

  const run = (argv: string[]) => start(argv).ended

  const begin: Sitting['start'] = (prompt, more = []) =>
    host.stdin
      ? start([...host.headless, ...more], prompt)
      : start([...host.headless.slice(0, -1), ...more, ...host.headless.slice(-1), prompt])

  function armed(): string[] {
    const folder = join(place.home, 'armed')
    return existsSync(folder) ? readdirSync(folder) : []
  }

  function leave(): void {
    terminal?.close()
    endCarriers(`RALPH_TEST_TERMINAL=${place.root}`) // some would continue in the background
    terminal = undefined
  }

  const status = () => query(place, 'SELECT status FROM loop ORDER BY started_at DESC LIMIT 1')[0]?.status

  return {
    get place() {
      return place
    },
    live: (title, body) =>
      test(title, async (context) => {
        context.skip(bin === undefined, `${client.name} cannot be installed here`)
        for (const name of readdirSync(place.dir))
          if (name !== '.git') rmSync(join(place.dir, name), { recursive: true, force: true })
        rmSync(join(place.home, 'armed'), { recursive: true, force: true }) // left by a failed test
        await body(context).catch((cause) => {
          leave() // its screen is unknown now
          throw cause
        })
        expect(readdirSync(place.dir).filter((name) => name.startsWith('PWNED'))).toEqual([])
      }),
    bash: (command) => ({ tools: [client.bash(command)] }),
    script(next) {
      replies = next
      from = server.requests.length
    },
    requests: () => server.requests.slice(from),
    start: begin,
    ask: (prompt, more) => begin(prompt, more).ended,
    async terminal(more = []) {
      if (more.length > 0) leave()
      if (terminal) return terminal
      const marked = { ...env, RALPH_TEST_TERMINAL: place.root }
      terminal = openTerminal([...(host.terminal ?? []), ...more], { dir: place.dir, env: marked })
      await host.ready?.(terminal)
      return terminal
    },
    leave,
    async newest() {
      const [row] = (await place.ralph(['status', '--json'])).lines
      const { end } = await place.ralph(['status', String(row?.loop_id), '--json'])
      return { ...row, ...end }
    },
    // The hook releases the session a moment after it has saved how the loop ended.
    async over() {
      await until('the end of the loop', () => ENDED.has(String(status())), 60_000).catch((cause) => {
        throw new Error(`The loop is ${status()}.\n${terminal?.screen() ?? ''}`, { cause })
      })
      await until('its session to be released', () => armed().length === 0)
    },
    face: join(host.face, 'ralph-loop.local.md'),
    armed,
  }
}

const ENDED = new Set(['completed', 'halted', 'cancelled'])

const ENDINGS = ['by its promise', 'by its limit', 'by a check that passes after a claim it refused'] as const

/** One loop of three iterations and how it must end. */
export type Ending = {
  options: string
  replies: Reply[]
  requests: number
  end: Record<string, unknown>
  /** What the user sees. */
  says: string
  /** What a request must contain. */
  told?: { request: number; words: string }
}

/** Every iteration except a mere claim changes a file, so that no loop ends for lack of progress. */
export function endings({ bash, place, face }: Sitting): Ending[] {
  const work = (n: number): Reply[] => [bash(`echo ${n} >> a.txt`), { text: `Step ${n} is done, more is left.` }]
  const look = `cp ${face} face.md; ls '${place.home}/armed' > armed.txt; echo 2 >> a.txt`
  return [
    {
      options: '--completion-promise COMPLETE --max-iterations 8',
      replies: [...work(1), bash(look), { text: 'Step 2 is done.' }, bash('echo 3 >> a.txt'), DONE],
      requests: 6,
      end: { status: 'completed', proof: 'claimed', iterations: 3, max_iterations: 8 },
      says: "ralph: done after 3 iterations, on the agent's word alone (proof: claimed).",
    },
    {
      options: '--max-iterations=3',
      replies: [...work(1), ...work(2), ...work(3), { text: 'One too many.' }],
      requests: 6,
      end: { status: 'halted', reason: 'max-iterations', iterations: 3 },
      says: 'ralph: stopped after 3 iterations (max-iterations).',
    },
    {
      options: "--completion-promise COMPLETE --verify 'test -f b.txt'",
      replies: [...work(1), DONE, bash('echo all > b.txt'), DONE],
      requests: 5,
      end: { status: 'completed', proof: 'verified', iterations: 3, false_claims: 1 },
      says: 'ralph: done after 3 iterations, proof: verified.',
      told: { request: 3, words: 'The check `test -f b.txt` failed' },
    },
  ]
}

/** Checks what ralph stored about a loop with this end, what the model was asked, and that nothing is left of it. */
export async function expectEnding(sitting: Sitting, { requests, end, told }: Ending, early = 0): Promise<void> {
  const loop = await sitting.newest()
  expect(loop).toMatchObject({ prompt: 'Write the file.', ...end })
  expect(sitting.requests()).toHaveLength(early + requests)
  if (told) expect(JSON.stringify(sitting.requests()[early + told.request])).toContain(told.words)
  const shown = await sitting.place.ralph(['show', String(loop.loop_id), '--json'])
  const turns = shown.lines.filter(({ fact }) => (fact as { kind?: string } | undefined)?.kind === 'turned')
  expect(turns).toHaveLength(Number(loop.iterations))
  expectNothingLeft(sitting)
}

/** The three ends of a loop without user input, each in its own session, and the end by `ralph cancel`. */
export function headlessEndings(host: Host, sitting: Sitting, title: string): void {
  const { live, bash } = sitting
  const loop = `${host.prefix}loop Write the file.`

  for (const [number, how] of ENDINGS.entries()) {
    live(`${title}: ends ${how}`, async () => {
      const ending = endings(sitting)[number] as Ending
      const early: Reply[] = host.late ? [{ text: 'What is that?' }] : []
      sitting.script([...early, ...ending.replies])
      const result = await sitting.ask(`${loop} ${ending.options}`)
      expect(result).toMatchObject({ code: 0 })
      await expectEnding(sitting, ending, early.length)
      if (host.messagesIn) expect(host.messagesIn(result)).toContain(ending.says)
      if (number > 0) return
      expect(result.stdout).toContain('All done.')
      expect(JSON.stringify(sitting.requests()[early.length])).toContain('This is iteration 1 of at most 8')
      expect(sitting.place.read('armed.txt').trim().split('\n')).toHaveLength(1)
      expect(sitting.place.read('face.md')).toMatch(/^iteration: 2$[\s\S]*Write the file\./m)
    })
  }

  live(`${title}: ends when it is cancelled from a shell`, async () => {
    const cancel = `RALPH_HOME='${sitting.place.home}' '${process.execPath}' '${LAUNCHER}' cancel`
    const two = (endings(sitting)[1] as Ending).replies.slice(0, 4)
    const early: Reply[] = host.late ? [{ text: 'What is that?' }] : []
    sitting.script([...early, ...two, bash(`echo 3 >> a.txt; ${cancel}`), { text: 'Somebody cancelled it.' }])
    expect(await sitting.ask(loop)).toMatchObject({ code: 0 })
    expect(sitting.requests()).toHaveLength(early.length + 6)
    expect(await sitting.newest()).toMatchObject({ status: 'cancelled', iterations: 2 })
    expectNothingLeft(sitting)
  })
}

/** A command that needs no agent asks no model; `messagesIn` is where its answer is read, if the client shows it at all. */
export function answersItself(
  { client, prefix }: Host,
  sitting: Sitting,
  messagesIn?: (result: CommandResult) => string,
): void {
  sitting.live(`${client.name} is not asked for ${prefix}help`, async () => {
    sitting.script([DONE])
    const result = await sitting.ask(`${prefix}help`)
    expect(result).toMatchObject({ code: 0 })
    expect(sitting.requests()).toEqual([])
    if (messagesIn) expect(messagesIn(result)).toContain('loop PROMPT [options]')
  })
}

/** Types a line and submits it. Enter is pressed again if a client treated it as part of the text. */
export async function enter(terminal: Terminal, text: string, taken: () => boolean): Promise<void> {
  const isShown = () => terminal.visible().includes(text.trimEnd().slice(-8))
  // Right after an interruption some clients lose what is typed.
  for (let tries = 0; tries < 4 && !(tries > 0 && isShown()); tries++) {
    terminal.press('C-u') // some leave rejected text in their input line
    terminal.type(text)
    await until(text, isShown, 10_000).catch(() => {})
  }
  await sleep(300) // sooner, some read it as part of a paste
  for (let tries = 0; tries < 10; tries++) {
    terminal.press('Enter')
    if (await until(text, taken, 3_000).catch(() => false)) return
  }
  throw new Error(`"${text}" was not accepted:\n${terminal.screen()}`)
}

/** Stops the agent in the middle of its turn. */
export async function interrupt(
  terminal: Terminal,
  { stopKey = 'Escape', stopped = /interrupted/i }: Host,
): Promise<void> {
  const seen = () => terminal.screen().split(stopped).length
  const before = seen()
  terminal.press(stopKey)
  // If the last interruption has scrolled away, there are no more than before.
  await until('its interruption', () => seen() > before, 5_000).catch(() => terminal.shows(stopped))
}

/**
 * A message typed in the middle of a turn reaches the next iteration; the loop continues, and no model is asked for it
 * alone.
 */
export async function steered(host: Host, sitting: Sitting, terminal: Terminal): Promise<void> {
  const { bash, place } = sitting
  const hangs = bash('touch waits; while [ ! -f on ]; do sleep 0.05; done')
  const first = [bash('echo 1 >> a.txt'), { text: 'Step 1 is done.' }]
  sitting.script([...first, hangs, { text: 'Step 2 is done.' }, bash('echo 3 >> a.txt'), DONE])
  const asked = () => sitting.requests().length > 0
  await enter(terminal, `${host.prefix}loop Write the file. --completion-promise COMPLETE`, asked)
  await until('the agent to work', () => existsSync(join(place.dir, 'waits')), 60_000)
  await enter(terminal, `${host.prefix}steer Use tabs, please.`, () =>
    /steer Use tabs, please\./.test(terminal.screen()),
  )
  place.write('on', '')
  await sitting.over()
  const result = sitting.requests().map((body) => JSON.stringify(body).includes('A person says: Use tabs, please.'))
  expect(result).toEqual([false, false, false, false, true, true])
  expect(await sitting.newest()).toMatchObject({ status: 'completed', iterations: 3 })
  expectNothingLeft(sitting)
}

/** A loop that has ended leaves neither an armed session nor a face. */
export function expectNothingLeft({ armed, place, face }: Sitting): void {
  expect(armed()).toEqual([])
  expect(existsSync(join(place.dir, face))).toBe(false)
}
