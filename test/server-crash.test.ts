/**
 * `kill -9` of `ralph serve` while it runs five loops: they continue with the next server, and readers miss nothing.
 * `RALPH_CRASH_POINTS=10 npx vitest run test/server-crash.test.ts` kills it ten times; see `crash-points.ts`.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { readLive } from '../src/fronts/server/live-client.ts'
import type { LiveMessage } from '../src/fronts/server/live-wire.ts'
import { crashChance, generator } from './crash-points.ts'
import { carriers, commitAll, makePlace, type Place, query, type Running, until } from './ralph.ts'
import { expectReplayed } from './replayed.ts'

const { runs: KILLS, seed } = crashChance({ runs: 2, seed: 1 })
const LOOPS = 5
const ITERATIONS = KILLS + 3

type Server = { going: Running; url: string; token: string }

test(`a server that is killed ${KILLS} times loses no loop and no event`, {
  timeout: 60_000 + KILLS * 10_000,
}, async () => {
  const place = makeWork()
  const random = generator(seed)
  let server = await startServer(place, 0)
  const port = Number(new URL(server.url).port)
  const stop = new AbortController()
  const reading = readAlong(server, stop)
  const ids: string[] = []
  for (let n = 1; n <= LOOPS; n++) ids.push(await startLoop(place, server, n))

  for (let kill = 1; kill <= KILLS; kill++) {
    const from = countEvents(place)
    const some = 1 + Math.floor(random() * 8)
    await until(`${some} events before kill ${kill}`, () => countEvents(place) >= from + some || haveEnded(place))
    await sleep(random() * 40)
    expect(haveEnded(place)).toBe(false)
    server.going.child.kill('SIGKILL')
    await server.going.ended.catch(() => {}) // its last line may be cut off
    server = await startServer(place, port)
  }
  await until('the end of all loops', () => haveEnded(place))
  await reading.seen(countEvents(place))
  stop.abort()
  const { events, lost } = await reading.ended
  server.going.child.kill('SIGTERM')
  await server.going.ended

  expect(query(place, 'SELECT status, proof, iteration FROM loop')).toEqual(
    Array(LOOPS).fill({ status: 'completed', proof: 'verified', iteration: ITERATIONS }),
  )
  for (let n = 1; n <= LOOPS; n++) expect(place.read(`../work-${n}/log.txt`)).toBe(lines())
  expect(lost).toBeGreaterThanOrEqual(KILLS)
  const stored = query(place, 'SELECT seq, loop, n FROM event ORDER BY seq')
  expect(events.map(({ seq, loop, data }) => ({ seq, loop, n: data.n }))).toEqual(stored)
  for (const id of ids) expect(carriers(`RALPH_LOOP_ID=${id}`)).toEqual([])
  await expectReplayed(place.home)
})

/** Folders in which an agent writes line n in iteration n, however often it runs, and a check that counts the lines. */
function makeWork(): Place {
  const place = makePlace({ git: false })
  for (let n = 1; n <= LOOPS; n++) {
    const dir = join(place.root, `work-${n}`)
    mkdirSync(dir)
    place.write(`../work-${n}/README.md`, 'A project.\n')
    commitAll({ dir, env: place.env })
  }
  place.agent(`grep -qx "line $RALPH_ITERATION" log.txt 2>/dev/null || echo "line $RALPH_ITERATION" >> log.txt
sleep 0.05
echo "Line $RALPH_ITERATION is there."`)
  place.write(
    '../check.sh',
    `#!/bin/sh
lines=$(cat log.txt 2> /dev/null | wc -l)
echo "$((${ITERATIONS} - lines)) failed, $lines passed"
[ "$lines" -eq ${ITERATIONS} ]
`,
    0o755,
  )
  return place
}

function lines(): string {
  return Array.from({ length: ITERATIONS }, (_, n) => `line ${n + 1}\n`).join('')
}

async function startServer(place: Place, port: number): Promise<Server> {
  const going = place.start(['serve', '--port', String(port), '--concurrency', String(LOOPS), '--json'])
  const said = await until("the server's address", () => going.lines().find(({ url }) => url !== undefined))
  return { going, url: String(said.url), token: String(said.token) }
}

async function startLoop(place: Place, { url, token }: Server, n: number): Promise<string> {
  const response = await fetch(new URL('/api/loops', url), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      prompt: `Write ${ITERATIONS} lines.`,
      dir: join(place.root, `work-${n}`),
      agent: `command:${join(place.root, 'agent.sh')}`,
      until: '../check.sh',
      limits: { iterations: ITERATIONS + 3 },
    }),
  })
  const { loop } = (await response.json()) as { loop?: string }
  if (loop === undefined) throw new Error(`No loop was started: ${response.status}`)
  return loop
}

type LoopEvent = Extract<LiveMessage, { type: 'loop-event' }>

/** One reader for the whole test. */
function readAlong({ url, token }: Server, { signal }: AbortController) {
  const events: LoopEvent[] = []
  const read = async () => {
    let lost = 0
    for await (const item of readLive({ url, token, after: '0.0.0.0', signal })) {
      if (item.kind === 'lost') lost += 1
      if (item.kind === 'message' && item.message.type === 'loop-event') events.push(item.message)
    }
    return { events, lost }
  }
  return { ended: read(), seen: (count: number) => until(`${count} events`, () => events.length >= count) }
}

function countEvents(place: Place): number {
  return Number(query(place, 'SELECT count(*) AS n FROM event')[0]?.n)
}

function haveEnded(place: Place): boolean {
  const open = query(place, `SELECT id FROM loop WHERE status NOT IN ('completed', 'halted', 'cancelled')`)
  return open.length === 0 && query(place, 'SELECT id FROM loop').length === LOOPS
}
