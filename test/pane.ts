/** An interactive client in a terminal that reports what happens in it, started as by the dispatcher; a small script records the reports. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { afterEach, type TestContext } from 'vitest'
import type { Agent, Request } from '../src/agents/agent.ts'
import { carriers, endCarriers, type Line, type Place, until } from './ralph.ts'
import { hasTmux, openTerminal, type Terminal } from './tmux.ts'

export type Pane = {
  terminal: Terminal
  /** The reports so far. */
  reports(): Line[]
  /** Waits for the n-th report of this name, counted from 1. */
  reported(event: string, n?: number): Promise<Line>
  /** Kills the client like a crash. */
  kill(): Promise<void>
}

type Opening = { env: Record<string, string | undefined>; request?: Partial<Request>; skip: TestContext['skip'] }

const terminals: Terminal[] = []

afterEach(() => {
  for (const terminal of terminals.splice(0)) terminal.close()
})

const TERMINAL = { LANG: 'C.UTF-8', TERM: 'screen-256color' }

export function openPane(agent: Agent, place: Place, { env, request = {}, skip }: Opening): Pane {
  skip(!hasTmux, 'tmux is not installed')
  const file = join(place.root, 'told')
  const folder = join(place.root, 'pane')
  const hook = ['/bin/sh', '-c', 'cat >> "$0"; echo >> "$0"', file]
  const reporting = agent.pane?.({ hook, plugins: resolve('plugins'), folder }) ?? { args: [], env: {} }
  for (const { path, text } of reporting.files ?? []) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const { argv, env: own } = agent.command({
    ...{ prompt: '', mode: 'interactive', permissions: 'ask', sandbox: false, target: '' },
    ...{ dir: place.dir, folder, self: (program) => [program], at: 0 },
    ...request,
    extraArgs: [...reporting.args, ...(request.extraArgs ?? [])],
  })
  const terminal = openTerminal(argv, {
    dir: place.dir,
    env: { ...place.env, ...TERMINAL, ...env, ...own, ...reporting.env, RALPH_PANE: place.root },
  })
  terminals.push(terminal)
  const alive = () => carriers(`RALPH_PANE=${place.root}`)
  const reports = () => {
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
    // The last one may still be incomplete.
    return lines.slice(0, -1).map((line) => JSON.parse(line) as Line)
  }
  return {
    terminal,
    reports,
    reported: (event, n = 1) =>
      until(`the report ${event}`, () => reports().filter((line) => line.event === event)[n - 1], 40_000).catch(
        (cause) => {
          const events = reports().map((line) => JSON.stringify(line).slice(0, 300))
          throw new Error(`${cause}\n${events.join('\n')}\n${terminal.visible()}`, { cause })
        },
      ),
    async kill() {
      endCarriers(`RALPH_PANE=${place.root}`)
      await until('its end', () => alive().length === 0)
    },
  }
}

/** Text that terminals, shells and editors might interpret. */
const LINES = [
  'const text = `one ` + 1\t// and',
  '\t\treturn "it\'s" // \\n \\\\',
  '```ts',
  'EOF',
  '$(touch PWNED) `touch PWNED` !touch @README.md /help {{args}} $1 %s',
  '日本語のテキスト 🎉👨‍👩‍👧 café',
  '   blanks around   ',
  '',
  '[200~ no paste 201~',
]

/** A prompt of 30 KB. */
export const LONG_PROMPT: string = [
  'Work on this task.',
  ...Array.from({ length: 1_000 }, (_, n) => `${n} ${LINES[n % LINES.length]}`),
  'The last line.',
].join('\n')
