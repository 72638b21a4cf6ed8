/** tmux: terminals that stay when nobody looks, on ralph's own server, which reads nobody's settings. */
import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { RalphError } from '../error.ts'
import { callTmux, must } from './tmux-call.ts'

export type Tmux = {
  /** Undefined: there is no server. */
  look(): Promise<Terminals | undefined>
  /** Opens a terminal with a program in it; what the tag stood for before is closed. Returns which server has it. */
  start(starting: Starting): Promise<string>
  /** Puts a text into the terminal as one paste, including its line breaks. */
  paste(tag: string, text: string): Promise<void>
  press(tag: string, ...keys: string[]): Promise<void>
  /** What is visible; with `all`, also what has scrolled away. */
  screen(tag: string, all?: boolean): Promise<string>
  close(tag: string): Promise<void>
  /** The command line that shows it to a person in their own terminal. */
  attach(tag: string): string[]
}

/** `tag` is also the name of its session. */
export type Starting = {
  tag: string
  title: string
  dir: string
  argv: readonly string[]
  /** In addition to what the server has. */
  env: Readonly<Record<string, string>>
}

/** `server`: another one has another name. `panes` by their tags. */
export type Terminals = { server: string; panes: Map<string, TmuxPane> }

export type TmuxPane = {
  id: string
  /** Whether its program still runs. */
  alive: boolean
  /** When something was last printed, to the second. */
  printedAt: number
  /** When somebody who looks at it last pressed a key, to the second. Absent: nobody looks. */
  typedAt?: number
}

/** Each home has its own server. */
export function socketOf(home: string): string {
  if (home === join(homedir(), '.ralph')) return 'ralph'
  return `ralph-${createHash('sha256').update(home).digest('hex').slice(0, 8)}`
}

export function openTmux(home: string, env: Readonly<Record<string, string | undefined>>): Tmux {
  const server = ['-u', '-L', socketOf(home), '-f', '/dev/null']
  const run = (args: readonly string[], stdin?: string) => callTmux([...server, ...args], env, stdin)
  // A person may open their own terminals next to it, so it is always addressed by its id.
  let ids = new Map<string, string>()

  async function look(): Promise<Terminals | undefined> {
    const listed = await run([...WHICH, ';', 'list-panes', '-a', '-F', PANE, ';', 'list-clients', '-F', CLIENT])
    // A server without a terminal has nothing to list, and fails.
    const found = readTerminals(listed.ok ? listed.out : (await run(WHICH)).out)
    ids = new Map([...(found?.panes ?? [])].map(([tag, { id }]) => [tag, id]))
    return found
  }

  async function idOf(tag: string): Promise<string> {
    const id = ids.get(tag) ?? (await look())?.panes.get(tag)?.id
    if (id === undefined) throw new RalphError('tmux-failed', `The terminal of ${tag} no longer exists.`)
    return id
  }

  return {
    look,

    async start(starting) {
      await run(['kill-session', '-t', `=${starting.tag}`])
      const made = await run(opening(starting))
      if (!made.ok)
        throw new RalphError('tmux-failed', `tmux could not open a terminal in ${starting.dir}: ${made.error}`)
      ids.delete(starting.tag)
      return readTerminals(made.out)?.server ?? ''
    },

    async paste(tag, text) {
      must(await run(pasting(await idOf(tag), `ralph-${tag}`), pasteable(text)))
    },

    async press(tag, ...keys) {
      for (const [n, key] of keys.entries()) {
        if (n > 0) await sleep(BETWEEN_KEYS_MS)
        must(await run(['send-keys', '-t', await idOf(tag), key]))
      }
    },

    async screen(tag, all = false) {
      const shown = await run(['capture-pane', '-p', '-J', '-t', await idOf(tag), ...(all ? ['-S', '-'] : [])])
      return shown.ok ? shown.out : ''
    },

    async close(tag) {
      await run(['kill-session', '-t', `=${tag}`])
      ids.delete(tag)
    },

    attach: (tag) => ['env', '-u', 'TMUX', 'tmux', ...server, 'attach-session', '-t', `=${tag}`],
  }
}

/** All in one call: a server without a session would exit before the next one. */
function opening({ tag, title, dir, argv, env }: Starting): string[] {
  const given = Object.entries(env).flatMap(([name, value]) => ['-e', plain(`${name}=${value}`)])
  const place = ['-x', '160', '-y', '48', '-c', plain(dir.replaceAll('#', '##'))]
  return [
    ...['start-server', ';'],
    ...SETTINGS.flatMap((setting) => [...setting, ';']),
    ...['new-session', '-d', '-s', tag, '-n', title, ...place, ...given, '--', ...argv.map(plain), ';'],
    ...['set-option', '-F', '-t', `=${tag}:`, '@ralph', '#{pane_id}', ';', ...WHICH],
  ]
}

/** Two escapes at once are another key to some clients. */
const BETWEEN_KEYS_MS = 150

function pasting(id: string, buffer: string): string[] {
  return ['load-buffer', '-b', buffer, '-', ';', 'paste-buffer', '-p', '-d', '-b', buffer, '-t', id]
}

/**
 * Of control characters only tabs and line breaks: any other may end the paste, and the rest would be typed as keys.
 */
function pasteable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it is about
  return text.replace(/\r\n?/g, '\n').replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, '')
}

/** tmux reads a semicolon at the end of an argument as the end of a command. */
function plain(word: string): string {
  return word.endsWith(';') ? `${word.slice(0, -1)}\\;` : word
}

const WHICH = ['display-message', '-p', 'server #{pid}-#{start_time}']
const PANE = 'pane #{session_name} #{pane_id} #{@ralph} #{pane_dead} #{window_activity}'
const CLIENT = 'client #{session_name} #{client_activity}'

/** What a program prints first in its terminal stays readable when it has ended. */
const SETTINGS = [
  ['set-option', '-g', 'remain-on-exit', 'on'],
  // Its own note about the end would scroll the first line away. Older versions do not know this option.
  ['set-option', '-g', '-q', 'remain-on-exit-format', ''],
  ['set-option', '-s', 'exit-empty', 'off'],
  ['set-option', '-s', 'escape-time', '0'],
  ['set-option', '-g', 'default-terminal', 'screen-256color'],
  ['set-option', '-g', 'history-limit', '10000'],
  ['set-option', '-g', 'window-size', 'latest'],
  ['set-option', '-g', 'mouse', 'on'],
  ['set-option', '-g', 'status-style', 'bg=default,fg=default'],
  ['set-option', '-g', 'status-left', '#[bold] ralph #[default]'],
  ['set-option', '-g', 'status-left-length', '20'],
  ['set-option', '-g', 'status-right', 'F12 detaches, the agent keeps running '],
  // Inside a person's own tmux, the usual keys belong to that one.
  ['bind-key', '-n', 'F12', 'detach-client'],
] as const

function readTerminals(listed: string): Terminals | undefined {
  const rows = listed.split('\n').map((line) => line.split(' '))
  const [, server] = rows.find(([what]) => what === 'server') ?? []
  if (server === undefined) return undefined
  const typed = new Map<string, number>()
  for (const [what, tag = '', at] of rows)
    if (what === 'client') typed.set(tag, Math.max(typed.get(tag) ?? 0, Number(at) * 1_000))
  const panes = new Map(
    rows.flatMap(([what, tag = '', id = '', own, dead, at]) => {
      if (what !== 'pane' || id !== own) return []
      const typedAt = typed.get(tag)
      const pane = { id, alive: dead === '0', printedAt: Number(at) * 1_000 }
      return [[tag, { ...pane, ...(typedAt === undefined ? {} : { typedAt }) }] as const]
    }),
  )
  return { server, panes }
}
