/** A made-up fleet for pictures: a real Postgres and a real server, with workers that only say that they are there. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Client } from 'pg'
import type { FleetTask, FleetWorker } from '../src/formats/fleet-task.ts'
import { createClient } from '../src/fronts/server/client.ts'
import type { FleetStore } from '../src/host/fleet-store.ts'
import { startPostgres } from '../src/host/postgres/server.test-support.ts'
import { openPostgres } from '../src/host/postgres/store.ts'

export type FleetDemo = { url: string; token: string; close(): Promise<void> }

const MINUTE = 60_000

export async function openFleetDemo(folder: string): Promise<FleetDemo> {
  const postgres = await startPostgres()
  const database = postgres.url
  const store = openPostgres({ url: database, home: join(folder, 'filler'), now: Date.now }) as FleetStore
  const env = { ...process.env, RALPH_HOME: join(folder, 'fleet-home') }
  const serve = spawn(process.execPath, ['bin/ralph.cjs', 'serve', '--port', '0', '--json', '--database', database], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { url, token } = await addressIn(serve.stdout)
  await fill(store, createClient({ url, token }), database)
  const beats = setInterval(() => void greet(store), 5_000)
  return {
    url,
    token,
    async close() {
      clearInterval(beats)
      serve.kill('SIGTERM')
      await once(serve, 'exit')
      await store.close()
      await postgres.remove()
    },
  }
}

async function addressIn(output: AsyncIterable<unknown>): Promise<{ url: string; token: string }> {
  let printed = ''
  for await (const text of output) {
    printed += String(text)
    const line = printed.split('\n').find((one) => one.includes('serve-start'))
    if (line) return JSON.parse(line) as { url: string; token: string }
  }
  throw new Error(`The server stopped:\n${printed}`)
}

const WORKERS: readonly Omit<FleetWorker, 'started_at' | 'beat_at' | 'progress_at'>[] = [
  { ...common('build-1', 4711), agents: { claude: 'team', codex: 'ci' }, labels: ['docker', 'linux'], running: 3 },
  { ...common('build-2', 982), agents: { claude: 'team' }, running: 0 },
  { ...common('gpu-box', 311), agents: { codex: 'ci', opencode: 'local' }, labels: ['gpu', 'linux'], draining: true },
  { ...common('laptop', 5520), agents: { claude: 'ben' }, labels: [], concurrency: 1 },
]

function common(host: string, pid: number) {
  const more = { version: '0.1.0', labels: ['linux'], concurrency: 4, running: 1, draining: false }
  return { id: `${host}-${pid}`, host, pid, ...more }
}

async function greet({ fleet }: FleetStore): Promise<void> {
  for (const worker of WORKERS.slice(0, 3)) await fleet.workers.announce(worker, worker.running > 0)
}

const BUILD = 'build-1-4711'
const SHOP = 'git@example.com:shop/api.git'

type Told = Partial<Pick<FleetTask, 'state' | 'worker' | 'sentence'>> & { usd?: number }

/** Oldest first. */
const TASKS: readonly (readonly [id: string, prompt: string, how: object, told: Told])[] = [
  ['import', 'Make the importer resumable', { project: 'import' }, { state: 'done', usd: 1.84 }],
  ['sessions', 'Delete expired sessions in batches', {}, { state: 'done', usd: 0.61 }],
  [
    'webhooks',
    'Retry webhooks with backoff',
    { submitter: 'ben' },
    { state: 'failed', sentence: '3 iterations in a row changed nothing.', usd: 2.2 },
  ],
  ['csv', 'Export invoices as CSV', { project: 'import' }, { state: 'merging', usd: 0.94 }],
  ['node', 'Upgrade to Node 24', { submitter: 'nightly' }, { state: 'running', worker: 'gpu-box-311', usd: 1.38 }],
  ['vat', 'Round VAT by line', { project: 'tax', priority: 10 }, { state: 'running', worker: BUILD, usd: 0.43 }],
  ['vat-report', 'Report the VAT of a quarter', { project: 'tax', depends_on: ['vat'] }, {}],
  [
    'renew',
    'Renew subscriptions at the end of the month',
    { submitter: 'ben' },
    { state: 'resting', sentence: 'Asks: a yearly plan that began on 29 February renews on which day?', usd: 0.08 },
  ],
  ['ocr', 'Read receipts from photos', { submitter: 'nightly', labels: ['tpu'] }, {}],
  ['rates', 'Cache exchange rates for an hour', { agent: 'claude' }, {}],
  ['login', 'Rate-limit the login endpoint', { submitter: 'ben', priority: 5 }, { state: 'released' }],
  ['currencies', 'Support 24 more currencies', { project: 'tax' }, { state: 'running', worker: BUILD, usd: 0.92 }],
]

async function fill(store: FleetStore, client: ReturnType<typeof createClient>, database: string): Promise<void> {
  const { fleet } = store
  for (const worker of WORKERS) await fleet.workers.announce(worker, true)
  const tasks = TASKS.map(([id, prompt, how]) => ({
    id,
    prompt,
    submitter: 'anna',
    repo: SHOP,
    agent: 'codex',
    ...how,
  }))
  await client.call('submit_tasks', { tasks })
  for (const [submitter, usd_per_day] of [
    ['*', 5],
    ['anna', 20],
    ['ben', 4],
    ['nightly', 50],
  ] as const)
    await client.call('set_budget', { submitter, usd_per_day })
  await fleet.accounts.pause({ name: 'team', paused_until: Date.now() + 38 * MINUTE, why: 'rate limit' })
  for (const [id, , , { usd: _, ...patch }] of TASKS) if (patch.state) await fleet.change(id, patch)
  await inDatabase(database, [
    `UPDATE fleet_worker SET beat_at = beat_at - ${11 * MINUTE}, progress_at = progress_at - ${14 * MINUTE} WHERE host = 'laptop'`,
    `UPDATE fleet_worker SET started_at = started_at - ${9 * 60 * MINUTE}, progress_at = progress_at - 40000`,
    ...TASKS.map(
      ([id, , , { usd = 0 }], at) =>
        `UPDATE fleet_task SET spent_usd = ${usd}, reserved_usd = CASE state WHEN 'running' THEN ${usd} + 1.5 ELSE 0 END,
         created_at = created_at - ${(TASKS.length - at) * 7 * MINUTE} WHERE id = '${id}'`,
    ),
    `INSERT INTO fleet_spend (submitter, day, spent_usd) SELECT submitter, (now() AT TIME ZONE 'UTC')::date, sum(spent_usd)
     FROM fleet_task GROUP BY submitter ON CONFLICT (submitter, day) DO UPDATE SET spent_usd = excluded.spent_usd`,
  ])
  await greet(store)
}

/** What would otherwise take time and work. */
async function inDatabase(url: string, statements: readonly string[]): Promise<void> {
  const client = new Client(url)
  await client.connect()
  await client.query('SET search_path TO ralph')
  for (const statement of statements) await client.query(statement)
  await client.end()
}
