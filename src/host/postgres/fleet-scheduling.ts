/** One pass of the scheduler in Postgres: what it sees, and what it releases into the queue, in one transaction. */
import { WORKER_GONE_MS } from '../../formats/fleet-task.ts'
import type { FleetView, Release } from '../fleet-store.ts'
import type { PgAsking } from './asking.ts'
import type { Boss } from './fleet-queue.ts'
import { toTask } from './fleet-records.ts'
import { NOW } from './fleet-tables.ts'
import { fleetWorkers, toWorker } from './fleet-workers.ts'

/** For this long the scheduler is the process that did the last pass; after that any process may take over. */
const TERM_MS = 5_000

/** Per submitter and set of needs, so that ten thousand of one kind do not hide the others. */
const MOST_READY = 100

/** Jumps from one kind to the next along the index: a million waiting tasks are not scanned. */
const READY = `WITH RECURSIVE kind AS (
    (SELECT submitter, needs FROM fleet_task WHERE state = 'ready' ORDER BY submitter, needs LIMIT 1)
    UNION ALL
    SELECT following.* FROM kind, LATERAL (
      SELECT submitter, needs FROM fleet_task WHERE state = 'ready' AND (submitter, needs) > (kind.submitter, kind.needs)
      ORDER BY submitter, needs LIMIT 1) AS following)
  SELECT picked.* FROM kind, LATERAL (
    SELECT * FROM fleet_task WHERE state = 'ready' AND submitter = kind.submitter AND needs = kind.needs
      AND (due_at IS NULL OR due_at <= ${NOW})
    ORDER BY priority DESC, created_at, seq LIMIT ${MOST_READY}) AS picked`

type Passing = { holder: string; decide: (view: FleetView) => Release[] }

/** How many were released. A pass that releases nothing changes nothing, and wakes nobody. */
export function fleetPass(asking: PgAsking, boss: Boss, { holder, decide }: Passing): Promise<number | undefined> {
  return asking.transaction(
    async (inside) => {
      if (!(await takeTerm(inside, holder))) return undefined
      await wakeRested(inside)
      const releases = decide(await viewOf(inside))
      await release(inside, boss, releases)
      return releases.length
    },
    (released) => (released ? 'change' : 'silent'),
  )
}

/** The row stays locked until the pass has ended, so there is never more than one. */
async function takeTerm(asking: PgAsking, holder: string): Promise<boolean> {
  const row = await asking.one(
    `INSERT INTO fleet_role (name, holder, until) VALUES ('scheduler', $1, ${NOW} + ${TERM_MS})
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
     WHERE fleet_role.holder = excluded.holder OR fleet_role.until < ${NOW} RETURNING holder`,
    holder,
  )
  return row !== undefined
}

/** Tasks whose time has come, and those that somebody sent an order to. */
async function wakeRested(asking: PgAsking): Promise<void> {
  await asking.run(
    `UPDATE fleet_task SET state = 'ready', due_at = NULL, sentence = NULL WHERE state = 'resting'
     AND (due_at <= ${NOW} OR EXISTS (SELECT 1 FROM told WHERE told.loop = fleet_task.loop_id))`,
  )
}

export async function viewOf(asking: PgAsking): Promise<FleetView> {
  const ready = await asking.all(READY)
  const busy = await asking.all(`SELECT * FROM fleet_task WHERE state IN ('released', 'running', 'resting', 'merging')`)
  const workers = await asking.all(`SELECT * FROM fleet_worker WHERE beat_at > ${NOW} - ${WORKER_GONE_MS}`)
  const accounts = await asking.all(`SELECT * FROM fleet_account WHERE paused_until > ${NOW}`)
  const left = await asking.all(LEFT, [...new Set(ready.map(({ submitter }) => String(submitter)))])
  const merges = await asking.all(NEXT_MERGES)
  const shares = await asking.all('SELECT * FROM fleet_share')
  return {
    now: Number((await asking.one(`SELECT ${NOW} AS now`))?.now),
    ready: ready.map(toTask),
    busy: busy.map(toTask),
    merges: merges.map(toTask),
    workers: workers.map(toWorker),
    accounts: accounts.map(({ name, paused_until, why }) => ({
      name: String(name),
      paused_until: Number(paused_until),
      why: String(why),
    })),
    left: new Map(left.map(({ submitter, usd }) => [String(submitter), Number(usd)])),
    releasedAt: new Map(shares.map(({ submitter, released_at }) => [String(submitter), Number(released_at)])),
  }
}

/**
 * What each submitter with ready tasks may still spend today, minus what is set aside. Submitters without a limit are
 * left out.
 */
const LEFT = `SELECT who.submitter, budget.usd_per_day - coalesce(spend.spent_usd, 0) - coalesce(aside.usd, 0) AS usd
  FROM unnest($1::text[]) AS who (submitter)
  JOIN LATERAL (SELECT usd_per_day FROM fleet_budget WHERE fleet_budget.submitter IN (who.submitter, '*')
    ORDER BY fleet_budget.submitter = '*' LIMIT 1) AS budget ON true
  LEFT JOIN fleet_spend AS spend ON spend.submitter = who.submitter AND spend.day = (clock_timestamp() AT TIME ZONE 'UTC')::date
  LEFT JOIN (SELECT submitter, sum(greatest(reserved_usd - spent_usd, 0)) AS usd FROM fleet_task
    WHERE state IN ('released', 'running', 'merging') GROUP BY submitter) AS aside ON aside.submitter = who.submitter`

/** One task at a time is merged into a base, in the order in which they were proven. */
const NEXT_MERGES = `SELECT DISTINCT ON (repo, base) * FROM fleet_task AS task WHERE state = 'merging' AND (due_at IS NULL OR due_at <= ${NOW}) AND NOT EXISTS (
    SELECT 1 FROM fleet_task AS other WHERE other.state = 'merging' AND other.merge_job AND other.repo = task.repo AND other.base = task.base)
  ORDER BY repo, base, updated_at, seq`

/** State and job change together: a task is never released without a job, nor has two. */
async function release(asking: PgAsking, boss: Boss, releases: readonly Release[]): Promise<void> {
  if (releases.length === 0) return
  const { heartbeat_seconds: heartbeat } = await fleetWorkers(asking).settings.load()
  const begun = releases.filter(({ merge }) => !merge)
  const ids = begun.map(({ task }) => task)
  await asking.run(
    `UPDATE fleet_task SET state = 'released', sentence = NULL, due_at = NULL, updated_at = ${NOW}, reserved_usd = given.usd
     FROM (SELECT unnest($1::text[]) AS id, unnest($2::double precision[]) AS usd) AS given WHERE fleet_task.id = given.id`,
    ids,
    begun.map(({ reserveUsd }) => reserveUsd),
  )
  await asking.run(
    // The clock moves on meanwhile: with it in the list, a submitter would appear twice.
    `INSERT INTO fleet_share (submitter, released_at)
     SELECT submitter, ${NOW} FROM (SELECT DISTINCT submitter FROM fleet_task WHERE id = ANY($1)) AS who
     ON CONFLICT (submitter) DO UPDATE SET released_at = excluded.released_at`,
    ids,
  )
  const merged = releases.filter(({ merge }) => merge).map(({ task }) => task)
  await asking.run('UPDATE fleet_task SET merge_job = true WHERE id = ANY($1)', merged)
  for (const own of Map.groupBy(releases, ({ queue }) => queue.name).values()) {
    const { name, agents, labels } = own[0]?.queue ?? { name: '', agents: [], labels: [] }
    await asking.run(
      'INSERT INTO fleet_queue (name, agents, labels) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING',
      name,
      agents,
      labels,
    )
    await boss.put(asking, name, own, heartbeat)
  }
}
