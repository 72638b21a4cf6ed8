/** The health of the database of a fleet, as far as its own tables show it. */
import type { FleetHealth } from '../fleet-store.ts'
import type { PgAsking } from './asking.ts'
import { NOW } from './fleet-tables.ts'
import { MAJOR, MIGRATIONS } from './tables.ts'

/** `queue`: the schema of the queue. */
export async function fleetHealth(asking: PgAsking, queue: string): Promise<FleetHealth> {
  const before = Date.now()
  const now = Number((await asking.one(`SELECT ${NOW} AS now`))?.now)
  const clock_ms = Math.round(now - (before + Date.now()) / 2)
  const server = await asking.one(SERVER)
  const tables = await asking.one('SELECT tables FROM version')
  const scheduler = await asking.one(
    `SELECT holder, until - ${NOW} AS left_ms FROM fleet_role WHERE name = 'scheduler'`,
  )
  const ready = await asking.one(`SELECT ${NOW} - min(updated_at) AS ms FROM fleet_task WHERE state = 'ready'`)
  const jobs = await jobsIn(asking, queue)
  return {
    version: String(server?.version),
    version_number: Number(server?.number),
    user: String(server?.role),
    tls: server?.tls === true,
    local: server?.local === true,
    connections: { used: Number(server?.used), most: Number(server?.most) },
    size_mb: Math.round(Number(server?.bytes) / 1_000_000),
    tables: { major: MAJOR, steps: Number(tables?.tables), known: MIGRATIONS.length },
    clock_ms,
    rights: await rightsIn(asking, jobs),
    queue: jobs !== undefined,
    scheduler: scheduler ? { holder: String(scheduler.holder), left_ms: Number(scheduler.left_ms) } : null,
    oldest_ready_ms: ready?.ms === null || ready === undefined ? null : Number(ready.ms),
    bloated: await bloatedIn(asking),
  }
}

const SERVER = `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::integer AS number,
  current_user AS role, coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS tls,
  inet_server_addr() IS NULL OR host(inet_server_addr()) IN ('127.0.0.1', '::1') AS local,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
  current_setting('max_connections')::integer AS most, pg_database_size(current_database()) AS bytes`

/** What each of them must be able to do, per table. */
const NEEDS = {
  read: [['SELECT', ['loop', 'event', 'fleet_task', 'fleet_worker']]],
  submit: [['INSERT', ['loop', 'fleet_task', 'fleet_dependency']]],
  work: [
    ['INSERT', ['event', 'iteration', 'kept_diff', 'fleet_worker']],
    ['UPDATE', ['loop', 'fleet_task', 'fleet_role']],
  ],
} as const

/** The table of jobs by its oid: without access to its schema, a user may not even refer to it by name. */
async function jobsIn(asking: PgAsking, queue: string): Promise<string | undefined> {
  const sql = `SELECT pg_class.oid::text AS number FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = $1 AND relname = 'job'`
  const row = await asking.one(sql, queue)
  return row && String(row.number)
}

async function rightsIn(asking: PgAsking, jobs: string | undefined): Promise<FleetHealth['rights']> {
  const may = async (needs: readonly (readonly [right: string, tables: readonly string[]])[]) => {
    for (const [right, tables] of needs)
      for (const table of tables)
        if ((await asking.one('SELECT has_table_privilege($1, $2) AS may', table, right))?.may !== true) return false
    return true
  }
  const [read, submit] = [await may(NEEDS.read), await may(NEEDS.submit)]
  const mayFetch =
    jobs === undefined || (await asking.one(`SELECT has_table_privilege($1::oid, 'UPDATE') AS may`, jobs))?.may === true
  return { read, submit, work: submit && mayFetch && (await may(NEEDS.work)) }
}

/** Whether this user may create the tables of the queue, or bring them up to date. */
export async function mayMakeQueue(asking: PgAsking, queue: string): Promise<boolean> {
  const row = await asking.one(
    `SELECT CASE WHEN to_regnamespace($1) IS NULL THEN has_database_privilege(current_database(), 'CREATE')
       ELSE has_schema_privilege($1, 'CREATE') END AS may`,
    queue,
  )
  return row?.may === true
}

/** Tables with more dead rows than live ones: no vacuum cleans up after the updates. */
async function bloatedIn(asking: PgAsking): Promise<string[]> {
  const rows = await asking.all(
    'SELECT relname FROM pg_stat_user_tables WHERE n_dead_tup > 100000 AND n_dead_tup > n_live_tup ORDER BY n_dead_tup DESC',
  )
  return rows.map(({ relname }) => String(relname))
}
