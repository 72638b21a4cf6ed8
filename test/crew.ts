/** A dispatcher with scripted agents in real tmux: each in its own folder or worktree, simulated by a small terminal program. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { crewOf, tagOf } from '../src/dispatch/crew.ts'
import { openTmux, socketOf, type Tmux } from '../src/host/tmux.ts'
import { commitAll, type Line, makePlace, type Place, type Running, until } from './ralph.ts'

/** What an agent does, turn by turn; the rest is as in config.yaml. */
export type Player = { name: string; turns: readonly (readonly object[])[]; more?: string }

export type Crew = {
  place: Place
  config: string
  tmux: Tmux
  /** The folder of an agent. */
  dir(name: string): string
  /** The file with its script. */
  script(name: string): string
  /** The name of its terminal. */
  tag(name: string): string
  start(...args: string[]): Running
  /** `ralph dispatch VERB …`, as from another terminal. */
  say(...words: string[]): Promise<Line[]>
  /** The agents from `status --json`, by name. */
  agents(): Promise<Record<string, Agent>>
  /** Waits until an agent has this state. */
  stands(name: string, state: string, withinMs?: number): Promise<Agent>
  /** The prompts that an agent got, oldest first. */
  prompts(name: string): string[]
  /** Stops the dispatcher as a user would. */
  leave(running: Running): Promise<void>
  /** Queries its terminal server. */
  server(...args: string[]): string
  killServer(): void
}

export type Agent = Line & { state: string; words: string; loop_id: string; iteration: number; queue: string[] }

const crews: Crew[] = []

const dispatchers: Running[] = []

afterAll(() => {
  // In this order, otherwise they would bring their agents back.
  for (const { child } of dispatchers.splice(0)) child.kill('SIGKILL')
  for (const { killServer } of crews.splice(0)) killServer()
})

export const WORKS = (n: number): object[] => [
  { edit: { path: 'steps.txt', content: String(n) } },
  { text: `Step ${n} is done, more is left.` },
]
export const DONE: object[] = [
  { edit: { path: 'done.txt', content: 'all' } },
  { text: 'All done.\n\n<promise>COMPLETE</promise>' },
]

export function makeCrew(players: readonly Player[], ralph = ''): Crew {
  const place = makePlace()
  const own = { ...process.env, TMUX_TMPDIR: join(place.root, 'tmp') } // a server leaves its socket behind
  Object.assign(place.env, { TMUX_TMPDIR: own.TMUX_TMPDIR })
  const config = join(place.dir, 'config.yaml')
  const dir = (name: string) => join(place.root, 'agents', name)
  const script = (name: string) => join(place.root, `${name}.json`)
  const lines = players.map(({ name, turns, more = '' }) => {
    mkdirSync(dir(name), { recursive: true })
    writeFileSync(join(dir(name), 'README.md'), 'A project.\n')
    commitAll({ dir: dir(name), env: place.env })
    writeFileSync(script(name), JSON.stringify({ turns }))
    const rest = more.replace(/^/gm, '    ')
    return `  - name: ${name}\n    folder: ${dir(name)}\n    agent: scripted:${script(name)}\n${rest}\n`
  })
  writeFileSync(config, `ralph:\n  max_iterations: 10\n${ralph}\nagents:\n${lines.join('')}`)
  const tmux = openTmux(place.home, own)
  const agents = async () => {
    const { lines: listed } = await place.ralph(['dispatch', 'status', '--json'])
    return Object.fromEntries(listed.map((line) => [String(line.name), line as Agent]))
  }
  const crew: Crew = {
    place,
    config,
    tmux,
    dir,
    script,
    tag: (name) => tagOf({ crew: crewOf(config), name }),
    start(...args) {
      const running = place.start(['dispatch', '--json', ...args])
      dispatchers.push(running)
      return running
    },
    say: async (...words) => (await place.ralph(['dispatch', ...words, '--json'])).lines,
    agents,
    async stands(name, state, withinMs = 50_000) {
      let last: Agent | undefined
      return until(
        `${name} is ${state}`,
        async () => {
          last = (await agents())[name]
          return last?.state === state && last
        },
        withinMs,
      ).catch(async (cause) => {
        const screen = await tmux.screen(crew.tag(name)).catch(() => '(no pane)')
        throw new Error(`${cause.message}\n${JSON.stringify(last)}\n${screen.trim()}`, { cause })
      })
    },
    prompts(name) {
      const path = join(place.home, 'panes', crew.tag(name), 'prompts.jsonl')
      if (!existsSync(path)) return []
      return readFileSync(path, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as { prompt: string }).prompt)
    },
    async leave(running) {
      running.child.kill('SIGTERM')
      await running.ended
    },
    server: (...args) =>
      spawnSync('tmux', ['-L', socketOf(place.home), ...args], { env: own, encoding: 'utf8' }).stdout,
    killServer: () => void crew.server('kill-server'),
  }
  crews.push(crew)

  return crew
}
