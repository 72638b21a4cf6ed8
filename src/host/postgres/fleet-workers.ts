/** The workers of the fleet, their accounts and budgets, in Postgres. Times are the database's own. */
import { type FleetWorker, WORKER_GONE_MS } from '../../formats/fleet-task.ts'
import type { FleetRecords, FleetSettings } from '../fleet-store.ts'
import { parse, type Row } from '../rows.ts'
import type { PgAsking } from './asking.ts'
import { NOW } from './fleet-tables.ts'

/** A worker that has been silent for this long is no longer shown. */
export const FORGOTTEN_MS: number = 24 * 3_600_000

export function fleetWorkers(
  asking: PgAsking,
): Pick<FleetRecords, 'workers' | 'accounts' | 'budgets' | 'settings' | 'secrets'> {
  return {
    workers: workers(asking),
    accounts: accounts(asking),
    budgets: budgets(asking),
    settings: settings(asking),
    secrets: secrets(asking),
  }
}

function workers(asking: PgAsking): FleetRecords['workers'] {
  return {
    async announce({ agents, ...worker }, isProgress) {
      const columns = { ...worker, agents: JSON.stringify(agents) }
      const names = Object.keys(columns)
      const [row] = await asking.all(
        `INSERT INTO fleet_worker (${names}, started_at, beat_at, progress_at)
         VALUES (${names.map((_, index) => `$${index + 2}`)}, ${NOW}, ${NOW}, ${NOW})
         ON CONFLICT (id) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`)}, beat_at = ${NOW},
           progress_at = CASE WHEN $1 THEN ${NOW} ELSE fleet_worker.progress_at END
         RETURNING beat_at, drain, (SELECT count(*) FROM fleet_worker AS other WHERE other.beat_at > ${NOW} - ${WORKER_GONE_MS}) AS workers`,
        isProgress,
        ...Object.values(columns),
      )
      return { now: Number(row?.beat_at), drain: row?.drain === true, workers: Number(row?.workers) }
    },
    async leave(id) {
      await asking.transaction(async (inside) => {
        await inside.run('DELETE FROM fleet_worker WHERE id = $1', id)
        await inside.run('DELETE FROM fleet_role WHERE holder = $1', id) // the next one need not wait for its term to end
      })
    },
    list: async (all = false) => (await asking.all(all ? ALL_WORKERS : LIVE_WORKERS)).map(toWorker),
    async drain(id) {
      const row = await asking.one('UPDATE fleet_worker SET drain = true WHERE id = $1 RETURNING id', id)
      return row !== undefined
    },
  }
}

const LIVE_WORKERS = `SELECT * FROM fleet_worker WHERE beat_at > ${NOW} - ${WORKER_GONE_MS} ORDER BY host, started_at, id`

// Their last report may be some seconds old; for people it is counted.
const ALL_WORKERS = `SELECT worker.*, coalesce(busy.n, 0)::integer AS running FROM fleet_worker AS worker
  LEFT JOIN (SELECT worker, count(*) AS n FROM fleet_task WHERE state = 'running' GROUP BY worker) AS busy ON busy.worker = worker.id
  WHERE beat_at > ${NOW} - ${FORGOTTEN_MS} ORDER BY host, started_at, id`

export function toWorker({ drain, ...row }: Row): FleetWorker {
  return {
    ...(row as FleetWorker), // the columns are the fields
    agents: parse<FleetWorker['agents']>(row.agents, `worker ${row.id}`),
    draining: row.draining === true || drain === true,
    started_at: Number(row.started_at),
    beat_at: Number(row.beat_at),
    progress_at: Number(row.progress_at),
  }
}

function accounts(asking: PgAsking): FleetRecords['accounts'] {
  return {
    async list() {
      const rows = await asking.all(`SELECT * FROM fleet_account WHERE paused_until > ${NOW} ORDER BY name`)
      return rows.map(({ name, paused_until, why }) => ({
        name: String(name),
        paused_until: Number(paused_until),
        why: String(why),
      }))
    },
    async pause({ name, paused_until, why }) {
      await asking.run(
        `INSERT INTO fleet_account (name, paused_until, why) VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE
         SET paused_until = excluded.paused_until, why = excluded.why WHERE fleet_account.paused_until < excluded.paused_until`,
        name,
        Math.round(paused_until),
        why,
      )
    },
  }
}

function budgets(asking: PgAsking): FleetRecords['budgets'] {
  return {
    async list() {
      const rows =
        await asking.all(`SELECT budget.*, coalesce(spend.spent_usd, 0) AS spent_usd, coalesce(aside.usd, 0) AS reserved_usd
        FROM fleet_budget AS budget
        LEFT JOIN fleet_spend AS spend ON spend.submitter = budget.submitter AND spend.day = (clock_timestamp() AT TIME ZONE 'UTC')::date
        LEFT JOIN (SELECT submitter, sum(greatest(reserved_usd - spent_usd, 0)) AS usd FROM fleet_task
          WHERE state IN ('released', 'running', 'merging') GROUP BY submitter) AS aside ON aside.submitter = budget.submitter
        ORDER BY budget.submitter`)
      return rows.map((row) => ({
        submitter: String(row.submitter),
        usd_per_day: Number(row.usd_per_day),
        spent_usd: Number(row.spent_usd),
        reserved_usd: Number(row.reserved_usd),
      }))
    },
    async set(submitter, usdPerDay) {
      if (usdPerDay === null) await asking.run('DELETE FROM fleet_budget WHERE submitter = $1', submitter)
      else
        await asking.run(
          `INSERT INTO fleet_budget (submitter, usd_per_day) VALUES ($1, $2)
           ON CONFLICT (submitter) DO UPDATE SET usd_per_day = excluded.usd_per_day`,
          submitter,
          usdPerDay,
        )
    },
    async left(submitter) {
      const row = await asking.one(
        `SELECT budget.usd_per_day - coalesce((SELECT spent_usd FROM fleet_spend WHERE fleet_spend.submitter = $1
           AND day = (clock_timestamp() AT TIME ZONE 'UTC')::date), 0) AS usd
         FROM fleet_budget AS budget WHERE budget.submitter IN ($1, '*') ORDER BY budget.submitter = '*' LIMIT 1`,
        submitter,
      )
      return row && Number(row.usd)
    },
  }
}

const SETTINGS: FleetSettings = { heartbeat_seconds: 30, keep_days: 30, most_deaths: 5 }

function settings(asking: PgAsking): FleetRecords['settings'] {
  const load = async () => {
    const rows = await asking.all('SELECT * FROM fleet_setting')
    return { ...SETTINGS, ...Object.fromEntries(rows.map(({ name, value }) => [name, Number(value)])) }
  }
  return {
    load,
    async save(patch) {
      for (const [name, value] of Object.entries(patch))
        await asking.run(
          'INSERT INTO fleet_setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
          name,
          value,
        )
      return load()
    },
  }
}

function secrets(asking: PgAsking): FleetRecords['secrets'] {
  return {
    async keep(values) {
      for (const [id, value] of values)
        await asking.run(
          `INSERT INTO fleet_secret (id, value, at) VALUES ($1, $2, ${NOW}) ON CONFLICT (id) DO UPDATE SET at = excluded.at`,
          id,
          value,
        )
    },
    async load(ids) {
      const rows = await asking.all('SELECT id, value FROM fleet_secret WHERE id = ANY($1)', ids)
      return new Map(rows.map(({ id, value }) => [String(id), String(value)]))
    },
  }
}
