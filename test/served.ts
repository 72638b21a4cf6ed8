/**
 * A real `ralph serve` and loops that continue when a test says so; what a page shows of them, and what it should show.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from '../src/fronts/server/client.ts'
import { databaseOf } from '../src/host/postgres/postgres.test-support.ts'
import type { Page } from './browser.ts'
import { commitAll, type Place, type Running, until } from './ralph.ts'

export type Served = {
  url: string
  port: number
  call: Client['call']
  running: Running
  /** The address of a view, with the token. */
  at(path: string): string
  /** Like a power cut. */
  kill(): Promise<void>
}

export async function serveIn(place: Place, port = 0, ...options: string[]): Promise<Served> {
  const running = onDatabase(place).start(['serve', '--port', String(port), '--json', ...options])
  const said = await until('the address', () => running.lines().find(({ type }) => type === 'serve-start'))
  const { url, token } = said as unknown as { url: string; token: string }
  return {
    url,
    port: Number(new URL(url).port),
    call: createClient({ url, token }).call,
    running,
    at: (path) => `${new URL(path, url)}#t=${token}`,
    async kill() {
      running.child.kill('SIGKILL')
      await running.ended.catch(() => {}) // its last line may be cut off
    },
  }
}

/** The same place. If the fronts are tested on Postgres, every `ralph` started in it uses that database. */
export function onDatabase(place: Place): Place {
  const { database } = databaseOf(place.home)
  if (database) place.env.RALPH_DATABASE = database
  return place
}

/** Runs a loop to its end. If it must be in a database, a server runs it: `ralph run` works without one. */
export async function runLoop(place: Place, prompt: string, agent: string, check: string): Promise<void> {
  if (!onDatabase(place).env.RALPH_DATABASE) {
    const { code } = await place.ralph(['run', prompt, '--agent', agent, '--verify', check])
    if (code !== 0) throw new Error(`The loop ended with ${code}.`)
    return
  }
  const { call, running } = await serveIn(place)
  const { loop } = await call('start_loop', { prompt, agent, until: check, dir: place.dir })
  await until('the end of the loop', async () => (await call('get_loop', { loop, brief: true })).status === 'completed')
  running.child.kill('SIGTERM')
  await running.ended
}

export type Gated = { id: string /** Lets it run its iterations up to this one. */; allow(iteration: number): void }

/** Each iteration starts at once, and ends when it is allowed to. This many lines are needed. */
export async function startGated(place: Place, { call }: Served, name: string, lines: number): Promise<Gated> {
  const dir = join(place.root, name)
  const gates = join(place.root, `gates-${name}`)
  for (const folder of [dir, gates]) mkdirSync(folder)
  writeFileSync(join(dir, 'README.md'), 'A project.\n')
  commitAll({ dir, env: place.env })
  place.write(
    `../agent-${name}.sh`,
    `#!/bin/sh
cat > /dev/null
until [ -e '${gates}/'"$RALPH_ITERATION" ]; do sleep 0.05; done
echo "line $RALPH_ITERATION" > "line-$RALPH_ITERATION.txt"
echo "Line $RALPH_ITERATION is written."
`,
    0o755,
  )
  place.write(
    `../check-${name}.sh`,
    `#!/bin/sh
lines=$(ls line-*.txt 2> /dev/null | wc -l)
echo "$((${lines} - lines)) failed, $lines passed"
[ "$lines" -ge ${lines} ]
`,
    0o755,
  )
  const { loop } = await call('start_loop', {
    prompt: `Write the ${lines} lines of ${name}`,
    dir,
    agent: `command:${join(place.root, `agent-${name}.sh`)}`,
    until: `../check-${name}.sh`,
    limits: { iterations: lines + 3 },
  })
  let allowed = 0
  return {
    id: loop,
    allow(iteration) {
      for (; allowed < iteration; allowed += 1) writeFileSync(join(gates, String(allowed + 1)), '')
    },
  }
}

export async function iterationOf({ call }: Served, loop: string): Promise<number> {
  return (await call('get_loop', { loop, brief: true })).loop.tally.iteration
}

/** A row of the list: its title, the bars of its strip, and its iteration count. */
export type Shown = { title: string | null; bars: number; count: number }

export async function reportedLoops({ call }: Served): Promise<Shown[]> {
  const { loops } = await call('list_loops', { limit: 50 })
  const { strips } = await call('list_strips', { loops: loops.map(({ id }) => id) })
  return loops.map(({ id, prompt, iteration }) => ({
    title: prompt.split('\n')[0] ?? '',
    bars: strips.find(({ loop }) => loop === id)?.bars.length ?? 0,
    count: iteration,
  }))
}

export async function shownLoops(page: Page): Promise<Shown[]> {
  const rows = await page.locator('.loop-row:not(.head)').all()
  return Promise.all(
    rows.map(async (row) => ({
      title: await row.locator('.what a').textContent(),
      bars: await row.locator('.bar:not(.now):not(.left)').count(),
      count: Number(((await row.locator('.number').first().textContent()) ?? '').split('/')[0]),
    })),
  )
}

/** The numbers of the iterations, newest first, and the headline that counts the finished ones. */
export type ShownIterations = { head: string | null; numbers: number[] }

export async function reportedIterations({ call }: Served, loop: string): Promise<ShownIterations> {
  const { iterations } = await call('list_iterations', { loop, brief: true })
  const { next } = (await call('get_loop', { loop, brief: true })).loop
  const under = next.kind === 'turn' ? [next.iteration] : []
  const ended = iterations.map(({ n }) => n)
  return {
    head: `${ended.length} iteration${ended.length === 1 ? '' : 's'}`,
    numbers: [...ended, ...under].reverse(),
  }
}

export async function shownIterations(page: Page): Promise<ShownIterations> {
  const chips = await page.locator('.iteration-row .chip').allTextContents()
  return {
    head: await page.locator('.timeline h2').textContent(),
    numbers: chips.map((text) => Number.parseInt(text, 10)),
  }
}
