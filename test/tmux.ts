/**
 * A real terminal for interactive programs: tmux on its own socket, with a fixed size, that stays when its program
 * ends.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll } from 'vitest'
import { until } from './ralph.ts'

export const hasTmux: boolean = spawnSync('tmux', ['-V']).status === 0

export type Terminal = {
  /** Everything that was printed, including what has scrolled away. */
  screen(): string
  /** What is visible now. */
  visible(): string
  /** Types a line and submits it. */
  enter(text: string): Promise<void>
  /**
   * The same, in a program that echoes what is typed: submitted once it is visible. A blank at the end prevents
   * completions.
   */
  submit(text: string): Promise<void>
  /** Pastes text, which may have several lines, and submits it. */
  paste(text: string, settleMs?: number): Promise<void>
  /** The same as a dispatcher does it: text of any length, and no pause between the paste and Enter. */
  pasteAtOnce(text: string): void
  /** Types text without submitting it. */
  type(text: string): void
  /** Presses one key, such as `C-c`. */
  press(key: string): void
  /** Waits until the screen contains this text. */
  shows(text: string | RegExp, withinMs?: number): Promise<void>
  /** The exit code of the program, once it has ended. */
  ended(withinMs?: number): Promise<number>
  /** Closes it, as a user would. */
  close(): void
  /** The terminal's settings after the program has ended, as `stty -a` prints them. */
  settings(): string
  /** What tmux knows about the pane, such as `cursor_flag`. */
  ask(variable: string): string
}

const sockets: string[] = []

afterAll(() => {
  for (const socket of sockets.splice(0)) {
    spawnSync('tmux', ['-S', socket, 'kill-server'])
    rmSync(join(socket, '..'), { recursive: true, force: true, maxRetries: 5 })
  }
})

const SETTINGS = ['set -g default-terminal "screen-256color"', 'set -g history-limit 5000']

// What tmux itself reports about the end of a program may lack its exit code.
const AROUND =
  'trap : INT; "$@"; echo $? > "$0/code.new"; stty -a > "$0/settings"; mv "$0/code.new" "$0/code"; exec cat'

export type Opening = { dir: string; env: Record<string, string | undefined> }

/** Starts a program in a terminal. */
export function openTerminal(argv: readonly string[], { dir, env }: Opening): Terminal {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-tmux-'))
  const socket = join(folder, 'socket')
  const config = join(folder, 'tmux.conf')
  writeFileSync(config, `${SETTINGS.join('\n')}\n`)
  sockets.push(socket)
  const feed = (input: string, ...args: string[]) =>
    execFileSync('tmux', ['-u', '-S', socket, '-f', config, ...args], {
      cwd: dir,
      env: { LANG: 'C.UTF-8', PATH: process.env.PATH },
      encoding: 'utf8',
      input,
    }).replace(/\n$/, '')
  const tmux = (...args: string[]) => feed('', ...args)
  // Only the program itself gets them, to identify its processes.
  const given = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
  const words = ['sh', '-c', AROUND, folder, 'env', ...given, ...argv]
  tmux('new-session', '-d', '-x', '110', '-y', '36', '-c', dir, ...words)
  const screen = () => tmux('capture-pane', '-p', '-J', '-S', '-')
  const ask = (variable: string) => tmux('display-message', '-p', `#{${variable}}`)
  return {
    screen,
    visible: () => tmux('capture-pane', '-p', '-J'),
    ask,
    close: () => void tmux('kill-server'),
    type: (text) => void tmux('send-keys', '-l', '--', text),
    press: (key) => void tmux('send-keys', key),
    async enter(text) {
      tmux('send-keys', '-l', '--', text)
      await sleep(300) // sooner it would be read as part of a paste
      tmux('send-keys', 'Enter')
    },
    async submit(text) {
      const last = text.trim().split(/\s/).at(-1) ?? ''
      const seen = () => screen().split(last).length
      const before = seen()
      tmux('send-keys', '-l', '--', text)
      await until(`the screen shows ${text}`, () => seen() > before).catch((cause) => fail(cause, screen()))
      await sleep(300) // sooner it would be read as part of a paste
      tmux('send-keys', 'Enter')
    },
    async paste(text, settleMs = 300) {
      feed(text, 'load-buffer', '-') // an argument may have at most 16 KB
      tmux('paste-buffer', '-p', '-d')
      await sleep(settleMs) // sooner it would be read as part of the paste
      tmux('send-keys', 'Enter')
    },
    pasteAtOnce(text) {
      const file = join(folder, 'pasted')
      writeFileSync(file, text)
      tmux('load-buffer', '-b', 'ralph', file, ';', 'paste-buffer', '-p', '-d', '-b', 'ralph')
      tmux('send-keys', 'Enter')
    },
    async shows(text, withinMs = 30_000) {
      const has = () => (typeof text === 'string' ? screen().includes(text) : text.test(screen()))
      await until(`the screen shows ${text}`, has, withinMs).catch((cause) => fail(cause, screen()))
    },
    async ended(withinMs = 30_000) {
      const code = join(folder, 'code')
      await until('the end of the program', () => existsSync(code), withinMs).catch((cause) => fail(cause, screen()))
      return Number(readFileSync(code, 'utf8'))
    },
    settings: () => readFileSync(join(folder, 'settings'), 'utf8'),
  }
}

function fail(cause: unknown, screen: string): never {
  throw new Error(`${cause instanceof Error ? cause.message : cause}\n${screen.trim()}`, { cause })
}
