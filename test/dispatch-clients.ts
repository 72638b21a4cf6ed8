/** The dispatcher with real clients side by side in panes: each loops on a prompt until its check passes, while one may wait for its rate limit. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { crewOf, tagOf } from '../src/dispatch/crew.ts'
import { openTmux, socketOf } from '../src/host/tmux.ts'
import { seedsFor } from './client-seeds.ts'
import { type Client, installClient, pathWith } from './clients.ts'
import { DONE, failure, type ModelServer, type Reply, startModelServer } from './model-server.ts'
import { commitAll, endCarriers, type Line, makePlace, type Place, type Running, until } from './ralph.ts'
import { hasTmux } from './tmux.ts'

// Their editors turn pasted tabs into blanks.
const BLANKS: Readonly<Record<string, string>> = { claude: '    ', pi: '    ', copilot: '    ' }

/** `limited`: the client whose API refuses the first request. */
export type Sides = { clients: readonly Client[]; limited?: string; task: string }

type Seat = { client: Client; server: ModelServer; dir: string }

const OPTIONS = '    permissions: bypass\n    checks: test -f done.txt\n'

export function loopSideBySide({ clients, limited, task }: Sides): void {
  let place: Place
  let running: Running
  let seats: Seat[]
  let env: Record<string, string | undefined>
  const config = () => join(place.dir, 'config.yaml')

  // Before each attempt, so that a second one finds nothing left by the first.
  beforeEach(async () => {
    place = makePlace()
    seats = []
    Object.assign(place.env, { TMUX_TMPDIR: join(place.root, 'tmp'), LANG: 'C.UTF-8', RALPH_TEST: place.root })
    env = { ...process.env, TMUX_TMPDIR: place.env.TMUX_TMPDIR }
    const bins: string[] = []
    for (const client of clients) {
      const installed = installClient(client)
      if ('missing' in installed) {
        console.log(`skipped: ${client.name}: ${installed.missing}`)
        continue
      }
      bins.push(installed.bin)
      await seat(client)
    }
    Object.assign(place.env, { PATH: [...bins, pathWith(bins[0] ?? '')].join(delimiter) })
    const rows = seats.map(
      ({ client: { name }, dir }) => `  - name: ${name}\n    folder: ${dir}\n    agent: ${name}\n${OPTIONS}`,
    )
    writeFileSync(config(), `ralph:\n  max_iterations: 8\nagents:\n${rows.join('')}`)
  }, 400_000)

  afterEach(async () => {
    running?.child.kill('SIGKILL')
    spawnSync('tmux', ['-L', socketOf(place.home), 'kill-server'], { env })
    for (const { server } of seats) await server.close()
    endCarriers(`RALPH_TEST=${place.root}`)
  })

  async function seat(client: Client): Promise<void> {
    const dir = join(place.root, 'agents', client.name)
    mkdirSync(dir, { recursive: true })
    writeFileSync(join(dir, 'README.md'), 'A project.\n')
    commitAll({ dir, env: place.env })
    const bash = (command: string): Reply => ({ tools: [client.bash(command)] })
    const work = (n: number): Reply[] => [bash(`echo ${n} >> steps.txt`), { text: `Step ${n} is done, more is left.` }]
    const limit = failure(429, 'rate_limit_error', 'Rate limit reached. Please try again in 5s.')
    const replies = [...work(1), ...work(2), bash('touch done.txt'), DONE]
    const server = await startModelServer(client.name === limited ? [limit, ...replies] : replies, client)
    const home = join(place.root, 'home')
    Object.assign(place.env, client.prepare(home, server.url), seedsFor(client.name, { ...place, dir }))
    seats.push({ client, server, dir })
  }

  const agents = async () => (await place.ralph(['dispatch', 'status', '--json'])).lines

  async function stands(name: string, is: (agent: Line) => boolean): Promise<Line> {
    let last: Line | undefined
    const found = async () => {
      last = (await agents()).find((agent) => agent.name === name)
      if (last?.state === 'BLOCKED') await trust(name)
      return last && is(last) ? last : undefined
    }
    return until(`the state of ${name}`, found, 120_000).catch(async (cause) => {
      const tmux = openTmux(place.home, env)
      const screen = await tmux.screen(tagOf({ crew: crewOf(config()), name })).catch(() => '(no pane)')
      throw new Error(`${cause.message}\n${JSON.stringify(last)}\n${screen}\n${running.stdout().slice(-2_000)}`, {
        cause,
      })
    })
  }

  /** Like a user who attaches and says yes. */
  async function trust(name: string): Promise<void> {
    const tmux = openTmux(place.home, env)
    await tmux.press(tagOf({ crew: crewOf(config()), name }), 'Enter')
  }

  test(`${clients.map(({ name }) => name).join(', ')} loop side by side to verified`, async ({ skip }) => {
    skip(!hasTmux, 'tmux is not installed')
    skip(seats.length === 0, 'no client can be installed here')
    writeFileSync(join(place.root, 'task.md'), task)
    running = place.start(['dispatch', '--json'])
    await until('all are known', async () => (await agents()).length === seats.length, 10_000).catch(async (cause) => {
      throw new Error(JSON.stringify(await running.ended), { cause })
    })
    for (const { client } of seats) {
      await stands(client.name, ({ words, state }) => state === 'READY' && words === '')
      await place.ralph(['dispatch', 'task', client.name, '--file', join(place.root, 'task.md')])
    }
    for (const { client, server } of seats) {
      const done = await stands(client.name, ({ state }) => state === 'DONE' || state === 'STUCK')
      expect(done).toMatchObject({ state: 'DONE', proof: 'verified', iteration: 3, restarts: 0 })
      const text = task.trim().replaceAll('\t', BLANKS[client.name] ?? '\t')
      const received = JSON.stringify(server.requests[0])
      expect(received.includes(JSON.stringify(text).slice(1, -1)), `${client.name} received it byte for byte`).toBe(
        true,
      )
      const turns = (await place.ralph(['show', String(done.loop_id), '--json'])).lines.flatMap(({ fact }) =>
        fact ? [(fact as { kind: string; turn?: { end: string } }).turn?.end ?? []].flat() : [],
      )
      expect(turns).toEqual([...(client.name === limited ? ['limited'] : []), 'ok', 'ok', 'ok'])
    }
    if (limited) expect(running.lines().some(({ name, state }) => name === limited && state === 'WAITING')).toBe(true)
  })
}
