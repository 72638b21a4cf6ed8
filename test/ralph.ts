/** The built ralph, run as a user would run it: in its own temporary place, with small scripts as its agents. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll } from 'vitest'
import { copyModel } from '../src/host/model-folder.test-support.ts'
import { ralphHere } from './here.ts'

export { carriers, endCarriers } from './carriers.ts'

export const LAUNCHER: string = resolve(import.meta.dirname, '..', 'bin', 'ralph.cjs')

/** A folder to work in, a home for ralph and one for the user, all below one temporary folder. */
export type Place = {
  root: string
  /** The work folder. */
  dir: string
  /** RALPH_HOME. */
  home: string
  env: Record<string, string>
  /** Runs ralph to completion, in this process if possible. */
  ralph(args: readonly string[], how?: How): Promise<Ran>
  /** Starts ralph and leaves it running. */
  start(args: readonly string[], how?: How): Running
  /** An agent from these lines of sh, as a value for `--agent`. It is outside the work folder and logs every call. */
  agent(lines: string): string
  /** A scripted agent that plays these turns. */
  script(turns: readonly (readonly object[])[]): string
  /** The calls of `agent` so far, as "iteration attempt". */
  calls(): string[]
  /** The prompt of the agent's n-th call. */
  prompt(call: number): string
  write(name: string, text: string, mode?: number): void
  read(name: string): string
}

export type How = {
  env?: Record<string, string | undefined>
  cwd?: string
  node?: string
  stdin?: string
  /** In its own process, as when a user types it. */
  apart?: true
}

export type Line = Record<string, unknown> & { type?: string }

export type Ran = {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  /** The output of `--json`. */
  lines: Line[]
  /** The last object of that output. */
  end: Line
  /** The peak memory of ralph itself, if it had its own process. */
  peakMb: number
}

export type Running = { pid: number; child: ChildProcess; stdout(): string; lines(): Line[]; ended: Promise<Ran> }

const places: Place[] = []
const children = new Set<ChildProcess>()

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  for (const { root } of places.splice(0)) rmSync(root, { recursive: true, force: true, maxRetries: 5 })
})

export function makePlace({ git }: { git: boolean } = { git: true }): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-test-')))
  const dir = join(root, 'work')
  const home = join(root, 'ralph-home')
  for (const folder of [dir, join(root, 'home'), join(root, 'tmp'), join(root, 'prompts')]) mkdirSync(folder)
  const env: Record<string, string> = {
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: join(root, 'home'),
    TMPDIR: join(root, 'tmp'),
    RALPH_HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    ...compiled(),
    ...person('AUTHOR'),
    ...person('COMMITTER'),
  }
  const place: Place = {
    root,
    dir,
    home,
    env,
    ralph: (args, how) => (needsProcess(args, how) ? start(place, args, how).ended : runHere(place, args, how)),
    start: (args, how) => start(place, args, how),
    agent(lines) {
      const file = join(root, 'agent.sh')
      const note = `echo "$RALPH_ITERATION $RALPH_ATTEMPT" >> '${root}/calls'\n`
      const keep = `cat > '${root}/prompts/'"$(wc -l < '${root}/calls' | tr -d ' ')"\n`
      writeFileSync(file, `#!/bin/sh\n${note}${keep}${lines}\n`, { mode: 0o755 })
      return `command:${file}`
    },
    script(turns) {
      writeFileSync(join(root, 'script.json'), JSON.stringify({ turns }))
      return `scripted:${join(root, 'script.json')}`
    },
    calls: () => (existsSync(join(root, 'calls')) ? readFileSync(join(root, 'calls'), 'utf8').trim().split('\n') : []),
    prompt: (call) => readFileSync(join(root, 'prompts', String(call)), 'utf8'),
    write(name, text, mode) {
      mkdirSync(dirname(join(dir, name)), { recursive: true })
      writeFileSync(join(dir, name), text)
      if (mode !== undefined) chmodSync(join(dir, name), mode)
    },
    read: (name) => readFileSync(join(dir, name), 'utf8'),
  }
  places.push(place)
  if (git) {
    copyModel('a project', dir, (model) => {
      writeFileSync(join(model, 'README.md'), 'A project.\n')
      commitAll({ dir: model, env })
    })
  }
  return place
}

/** Node's compile cache for ralph's programs. */
function compiled(): Record<string, string> {
  const { NODE_COMPILE_CACHE } = process.env
  return NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}
}

function person(role: string): Record<string, string> {
  return { [`GIT_${role}_NAME`]: 'Somebody', [`GIT_${role}_EMAIL`]: 'somebody@localhost' }
}

export function commitAll({ dir, env }: Pick<Place, 'dir' | 'env'>): void {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: dir, env, stdio: 'ignore' })
  if (!existsSync(join(dir, '.git'))) git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--allow-empty', '--message', 'A state')
}

// Git reads the environment of the process that starts it.
Object.assign(process.env, { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' })
Object.assign(process.env, person('AUTHOR'), person('COMMITTER'))
// Every ralph that runs here listens for Ctrl-C.
process.setMaxListeners(200)

/** ralph starts these programs with its own streams. */
const APART = ['hook', 'demo']

function needsProcess([command = '']: readonly string[], { node, env, apart }: How = {}): boolean {
  return node !== undefined || env?.NODE_OPTIONS !== undefined || apart === true || APART.includes(command)
}

async function runHere(place: Place, args: readonly string[], how: How = {}): Promise<Ran> {
  const { code, stdout, stderr } = await ralphHere(args, {
    env: { ...place.env, ...how.env },
    cwd: how.cwd ?? place.dir,
    ...(how.stdin === undefined ? {} : { stdin: how.stdin }),
  })
  return ran(args, { code, signal: null, stdout, stderr, peakMb: Number.NaN })
}

function ran(args: readonly string[], result: Omit<Ran, 'lines' | 'end'>): Ran {
  if (BUG.test(result.stderr)) throw new Error(`ralph ${args.join(' ')} has a bug:\n${result.stderr}`)
  const lines = args.includes('--json') ? jsonLines(result.stdout) : []
  return { ...result, lines, end: lines.at(-1) ?? {} }
}

function start(place: Place, args: readonly string[], how: How = {}): Running {
  const child = spawn(how.node ?? process.execPath, [LAUNCHER, ...args], {
    cwd: how.cwd ?? place.dir,
    env: { ...place.env, ...how.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  children.add(child)
  child.stdin.on('error', () => {}) // it may end without reading
  child.stdin.end(how.stdin ?? '')
  let stdout = ''
  let stderr = ''
  let peakMb = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const look = setInterval(() => (peakMb = Math.max(peakMb, peakOf(child.pid ?? 0))), 100)
  const ended = once(child, 'close').then(([code, signal]): Ran => {
    clearInterval(look)
    children.delete(child)
    return ran(args, { code, signal, stdout, stderr, peakMb })
  })
  return { pid: child.pid ?? 0, child, stdout: () => stdout, lines: () => jsonLines(wholeLines(stdout)), ended }
}

// However a command ends, the user gets a sentence and never a stack trace.
const BUG = /this is a bug in ralph|^\s+at .+:\d+:\d+\)?$/m

function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0 // it has ended
  }
}

function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf('\n') + 1)
}

/** Every line must be one JSON object. */
function jsonLines(text: string): Line[] {
  return text.split('\n').flatMap((line) => (line ? [JSON.parse(line) as Line] : []))
}

type Sight<Found> = Found | undefined | null | false

/** Polls until something is there. A missing file may be about to be replaced. */
export async function until<Found>(
  what: string,
  look: () => Sight<Found> | Promise<Sight<Found>>,
  withinMs = 50_000,
): Promise<Found> {
  const end = performance.now() + withinMs
  for (;;) {
    const begun = performance.now()
    const found = await orMissing(look)
    if (found) return found
    if (performance.now() > end) throw new Error(`Timed out after ${withinMs} ms waiting for: ${what}.`)
    // Polling must not slow down what it waits for.
    await sleep(Math.max(10, 2 * (performance.now() - begun)))
  }
}

async function orMissing<Found>(look: () => Sight<Found> | Promise<Sight<Found>>): Promise<Sight<Found>> {
  try {
    return await look()
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
    throw cause
  }
}

/** Whether a process watches files, as ralph does while it waits for news. */
export function watchesFiles(pid: number): boolean {
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === 'anon_inode:inotify'
    } catch {
      return false // it has been closed
    }
  })
}

export type Row = Record<string, unknown>

/** Queries ralph's database directly: the file on disk, or the place's Postgres. */
export function query({ home, env }: Place, sql: string, ...values: string[]): Row[] {
  if (env.RALPH_DATABASE) return queryPostgres(env.RALPH_DATABASE, sql, values)
  const database = new DatabaseSync(join(home, 'ralph.db'), { readOnly: true, timeout: 5_000 })
  try {
    return database.prepare(sql).all(...values) as Row[]
  } finally {
    database.close()
  }
}

/** In its own process, since its driver is asynchronous. */
function queryPostgres(url: string, sql: string, values: readonly string[]): Row[] {
  let n = 0
  const numbered = sql.replaceAll('?', () => `$${++n}`)
  const connect = JSON.stringify(resolve(import.meta.dirname, '../src/host/postgres/connect.ts'))
  const code = `const client = (await import(${connect})).openClient(${JSON.stringify({ url })})
    await client.connect()
    console.log(JSON.stringify((await client.query(...${JSON.stringify([numbered, values])})).rows))
    await client.end()`
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module']
  return JSON.parse(execFileSync(process.execPath, [...flags, '--eval', code], { encoding: 'utf8' })) as Row[]
}

/** The one loop of a place. */
export function onlyLoop(place: Place): string {
  const [row, ...more] = query(place, 'SELECT id FROM loop')
  if (!row || more.length > 0) throw new Error(`Expected one loop, found ${more.length + (row ? 1 : 0)}.`)
  return String(row.id)
}
