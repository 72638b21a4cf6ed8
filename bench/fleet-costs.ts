/**
 * `node bench/fleet-costs.ts`: measures what the calls of a fleet cost a real PostgreSQL on this machine's disk, and prints
 * the table that `bench/fleet-sim.ts --costs` reads. CPU time is the time that the Postgres processes were running.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { type Fact, startLoop } from '../src/engine/loop.ts'
import { step } from '../src/engine/step.ts'
import { checks, claims } from '../src/engine/stories.test-support.ts'
import { submissionOf } from '../src/fleet/submit.ts'
import type { FleetJob, FleetStore, Release } from '../src/host/fleet-store.ts'
import { startPostgres } from '../src/host/postgres/server.test-support.ts'
import { openPostgres } from '../src/host/postgres/store.ts'
import type { Lease } from '../src/host/store.ts'
import type { TurnEntry } from '../src/host/transcript.ts'

const ROUNDS = 300
const MANY = 500
const SUBMITTERS = 10
const OUTPUT_BYTES = 60_000

let made = 0

const SAFE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on', autovacuum: 'on' }
const server = await startPostgres(SAFE, { onDisk: true })
const home = mkdtempSync(join(tmpdir(), 'ralph-fleet-costs-'))
const store = openPostgres({ url: server.url, home, now: Date.now, leaseMs: 3_600_000 }) as FleetStore // like all stores in Postgres
const client = new Client(server.url)
try {
  await client.connect()
  console.log(JSON.stringify(await measureAll(), null, 2))
} finally {
  await client.end()
  await store.close()
  await server.remove()
  rmSync(home, { recursive: true, force: true })
}

async function measureAll() {
  const { fleet } = store
  await fleet.health() // creates the tables
  const empty = await sizes()
  const emptyView = await one('pass', () => fleet.pass('bench', () => []))
  const submit = await one('submit', () => submitMany(1))
  const many = await measure(4, () => submitMany(MANY))
  const submitted = await sizes()
  const submitItem = (many - submit) / MANY

  const queue = { name: 'q-costs', agents: ['command'], labels: [] }
  const fullView = await measure(40, () => fleet.pass('bench', () => []))
  const rows = (await fleet.view()).ready.length
  const releaseSome = (count: number) =>
    fleet.pass('bench', ({ ready }) =>
      ready.slice(0, count).map(({ id: task }): Release => ({ task, queue, reserveUsd: 0 })),
    )
  const releaseOne = (await measure(100, () => releaseSome(1))) - fullView
  const releaseMany = (await measure(8, () => releaseSome(100))) - fullView
  const jobs: FleetJob[] = []
  const fetch = await one('fetch', async () => void jobs.push(...(await fleet.queue.fetch(queue.name, 1))))
  const touch = await one('touch', (n) => fleet.queue.touch(jobs[n] as FleetJob))
  const leases: Lease[] = []
  const lease = await one('lease', async (n) => {
    const { task } = jobs[n] as FleetJob
    const found = await fleet.load(task)
    await store.isDriven(found?.loop_id ?? '')
    await fleet.change(task, { state: 'running', worker: 'bench', attempts: 1 }, { from: ['released'] })
    await fleet.asked(task)
    leases.push((await store.lease(found?.loop_id ?? '')) as Lease) // there is no other worker
  })
  const look = await one('look', (n) => store.nextOrder(leases[n]?.loop ?? ''))
  const transcript = await one('transcript', async (n) => {
    const log = store.transcripts.openTurn(leases[n]?.loop ?? '', 1)
    log.write(noise())
    log.close()
    await log.arrived?.()
  })
  const transcripts = await sizes()
  const saves = await one('4 × save', async (n) => {
    const held = leases[n] as Lease
    let loop = await store.load(held.loop)
    const { id: _, ...begun } = startLoop(loop.id, loop.spec, { at: Date.now() })
    const adopted: Fact = { kind: 'adopted', at: Date.now(), loop: begun }
    for (const happening of [adopted, checks('fail'), claims('clear'), checks('fail')]) {
      const fact = typeof happening === 'function' ? happening(loop) : happening
      loop = step(loop, fact)
      await store.save(held, loop, fact)
    }
  })
  const save = saves / 4
  const saved = await sizes()
  const beat = await one('beat', async (n) => {
    const sql = `UPDATE ralph.loop SET alive_until = now() + interval '30 s' WHERE id = $1 AND epoch = $2 RETURNING id`
    await client.query(sql, [leases[n]?.loop, leases[n]?.epoch])
  })
  const announced = { id: 'w', host: 'h', pid: 1, version: '0', agents: {}, labels: [], concurrency: 4, running: 4 }
  const workerBeat = await one('worker-beat', () => fleet.workers.announce({ ...announced, draining: false }, true))
  const settle = await one('settle', (n) => fleet.change((jobs[n] as FleetJob).task, { state: 'done' }))
  const complete = await one('complete', (n) => fleet.queue.settle(jobs[n] as FleetJob))
  for (const held of leases) await held.release()
  const all = { submit, fetch, lease, save, transcript, beat, touch, 'worker-beat': workerBeat, complete, settle }
  const cores = Object.fromEntries(
    Object.entries(all).map(([name, cpuMs]) => [name, { cpuMs: round(cpuMs), itemMs: 0 }]),
  )
  const tasks = MANY * 4 + ROUNDS
  const disk = await commitMs()
  return {
    calls: {
      ...cores,
      submit: { cpuMs: round(submit - submitItem), itemMs: round(submitItem) },
      pass: { cpuMs: round(emptyView), itemMs: round((fullView - emptyView) / rows) },
      look: { cpuMs: 0, itemMs: round(look) },
      release: { cpuMs: round(releaseOne), itemMs: round((releaseMany - releaseOne) / 99) },
    },
    database: disk,
    bytes: {
      task: Math.round((submitted.fleet_task - empty.fleet_task) / tasks + (saved.job - empty.job) / (8 * 100 + 100)),
      loop: Math.round((submitted.loop - empty.loop) / tasks),
      save: Math.round((saved.facts - transcripts.facts) / ROUNDS / 4),
      iteration: Math.round((transcripts.transcript - submitted.transcript) / ROUNDS),
    },
  }
}

async function submitMany(count: number): Promise<void> {
  const prompt = 'Make the tests of the shop pass, and keep the interface as it is. '.repeat(6)
  const given = { prompt, agent: 'command:x', checks: ['npm test'], repo: 'git@git.example.com:team/shop.git' }
  const all = Array.from({ length: count }, () =>
    submissionOf({ ...given, submitter: `person-${made++ % SUBMITTERS}@example.com` }, Date.now()),
  )
  await store.fleet.submit(await Promise.all(all))
}

/** Output like an agent's: much of it repeats itself. */
function noise(): TurnEntry[] {
  const line = () => ({
    out: JSON.stringify({
      text: `${Math.random()} ran the tests, looked at src/cart.ts:${Math.floor(Math.random() * 1_000)}`,
    }),
  })
  return Array.from({ length: OUTPUT_BYTES / 100 }, line)
}

async function one(name: string, work: (n: number) => Promise<unknown>): Promise<number> {
  const ms = await measure(ROUNDS, work)
  console.error(`${name.padEnd(12)} ${ms.toFixed(3)} ms of CPU`)
  return ms
}

async function measure(rounds: number, work: (n: number) => Promise<unknown>): Promise<number> {
  const before = coreMs()
  for (let n = 0; n < rounds; n++) await work(n)
  return (coreMs() - before) / rounds
}

/** CPU time of all processes of this Postgres, which Linux counts in nanoseconds. */
function coreMs(): number {
  const own = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isOurs(name))
  const spent = own.map((pid) => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]))
  return spent.reduce((sum, ns) => sum + ns, 0) / 1e6
}

function isOurs(pid: string): boolean {
  try {
    const [, parent] = /\) \w (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return Number(pid) === server.pid() || Number(parent) === server.pid()
  } catch {
    return false // it has ended
  }
}

type Sizes = { fleet_task: number; loop: number; facts: number; transcript: number; job: number }

async function sizes(): Promise<Sizes> {
  const sizeOf = async (...tables: string[]) => {
    const sql =
      'SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::float8 AS bytes FROM pg_class WHERE relname = ANY($1) AND relkind = $2'
    return Number((await client.query(sql, [tables, 'r'])).rows[0]?.bytes)
  }
  return {
    fleet_task: await sizeOf('fleet_task', 'fleet_dependency'),
    loop: await sizeOf('loop'),
    facts: await sizeOf('event', 'iteration', 'check_result'),
    transcript: await sizeOf('transcript'),
    job: await sizeOf('job_common'),
  }
}

/** How long the row that numbers events is locked: its own update, the way to the commit, then the disk. */
async function commitMs(): Promise<{ commitMs: number; counterMs: number }> {
  const timed = async (synchronous: string) => {
    await client.query(`SET synchronous_commit = ${synchronous}`)
    const held: number[] = []
    for (let n = 0; n < 2 * ROUNDS; n++) {
      await client.query('BEGIN')
      const began = performance.now()
      await client.query(`UPDATE ralph.counter SET n = n + 1 WHERE name = 'event'`)
      await client.query('SELECT pg_current_xact_id_if_assigned()')
      await client.query('COMMIT')
      held.push(performance.now() - began)
    }
    // This machine does other things as well: the faster half shows the real time.
    return held.toSorted((a, b) => a - b)[Math.floor(held.length / 4)] ?? 0
  }
  const [off, on] = [await timed('off'), await timed('on')]
  return { commitMs: round(on - off), counterMs: round(off) }
}

function round(value: number): number {
  return Number(Math.max(0, value).toFixed(3))
}
