/** Checks the database of a fleet for `ralph doctor`, with advice on what to fix. */
import { isRalphError } from '../error.ts'
import type { FleetHealth } from '../host/fleet-store.ts'
import { fleetStore } from './fleet-desk.ts'
import { getFleet } from './get-fleet.ts'
import type { Context } from './operation.ts'

/** `needed`: a failure is an error. `warns`: a failure is a warning. */
export type FleetFinding = { what: string; ok: boolean; needed: boolean; warns?: true; says: string }

export async function fleetFindings(context: Context): Promise<FleetFinding[]> {
  try {
    const { fleet } = fleetStore(context)
    const health = await fleet.health()
    return [...ofServer(health), ...ofRole(health), ...(await ofFleet(context, health))]
  } catch (cause) {
    if (!isRalphError(cause)) throw cause
    return [must('database', false, cause.message)]
  }
}

const must = (what: string, ok: boolean, says: string): FleetFinding => ({ what, ok, needed: true, says })
const better = (what: string, ok: boolean, says: string): FleetFinding => ({
  what,
  ok,
  needed: false,
  warns: true,
  says,
})

const OLDEST_POSTGRES = 130_000
const MOST_CLOCK_MS = 60_000
const MOST_LATE_MS = 30_000

function ofServer(health: FleetHealth): FleetFinding[] {
  const { version, version_number, tls, local, connections, clock_ms, tables, bloated, size_mb } = health
  const left = connections.most - connections.used
  const seconds = Math.round(Math.abs(clock_ms) / 100) / 10
  return [
    version_number >= OLDEST_POSTGRES
      ? must('database', true, `Postgres ${version}, ${size_mb} MB`)
      : must('database', false, `Postgres ${version} is too old. Use 13 or newer.`),
    must('tables', true, `up to date (${tables.steps} of ${tables.known} steps, for ralph ${tables.major})`),
    tls || local
      ? better('tls', true, tls ? 'the connection is encrypted' : 'no TLS, on this machine')
      : better(
          'tls',
          false,
          'the connection is not encrypted. Set up TLS in Postgres, and add ?sslmode=verify-full to the URL.',
        ),
    Math.abs(clock_ms) < MOST_CLOCK_MS
      ? better('clock', true, `off by ${seconds} s; only the clock of the database counts`)
      : better(
          'clock',
          false,
          `the clock of this machine is off by ${seconds} s from the database. Only the database clock counts, but set yours as well.`,
        ),
    left >= Math.max(5, connections.most / 10)
      ? better('clients', true, `${connections.used} of ${connections.most} connections used`)
      : better(
          'clients',
          false,
          `only ${left} of ${connections.most} connections are left. Raise max_connections, or use a pooler in session mode.`,
        ),
    bloated.length === 0
      ? better('vacuum', true, 'few dead rows')
      : better('vacuum', false, `${bloated.join(', ')}: more dead rows than live ones. Check that autovacuum is on.`),
  ]
}

function ofRole({ user, rights, queue }: FleetHealth): FleetFinding[] {
  const roles = [
    ...(rights.work ? ['worker'] : []),
    ...(rights.submit ? ['submitter'] : []),
    ...(rights.read ? ['reader'] : []),
  ]
  return [
    roles.length > 0
      ? must('rights', true, `${user} can act as ${roles.join(', ')}`)
      : must('rights', false, `${user} cannot read the tables. Grant it a role: see docs/fleet.md.`),
    queue
      ? must('queue', true, 'pg-boss is set up')
      : must('queue', true, 'pg-boss is not set up yet; the first worker does this'),
  ]
}

async function ofFleet(context: Context, { scheduler, oldest_ready_ms }: FleetHealth): Promise<FleetFinding[]> {
  const { workers, counts, now } = await getFleet.run(context, {})
  const alive = workers.filter((worker) => worker.alive).length
  const silent = workers.length - alive
  // A worker that has just started may not have scheduled yet.
  const isUp = workers.some((worker) => worker.alive && now - worker.started_at > MOST_LATE_MS)
  const isLate = scheduler === null || scheduler.left_ms < -MOST_LATE_MS
  return [
    alive > 0
      ? better('workers', true, `${alive} alive${silent > 0 ? `, ${silent} silent` : ''}`)
      : better('workers', false, 'no worker is running. Start one with `ralph worker`.'),
    !isUp || !isLate
      ? better(
          'scheduler',
          true,
          scheduler && !isLate ? `${scheduler.holder} schedules` : 'starts with the first worker',
        )
      : must('scheduler', false, 'no worker has scheduled anything in the last 30 seconds. Restart the workers.'),
    better('queued', true, queuedWords(counts.ready ?? 0, oldest_ready_ms)),
  ]
}

function queuedWords(ready: number, oldestMs: number | null): string {
  if (ready === 0 || oldestMs === null) return 'no task is waiting for a worker'
  return `${ready} ready, the oldest for ${Math.round(oldestMs / 60_000)} min; \`ralph status\` shows why`
}
