/** The queue of the fleet: pg-boss hands released tasks to workers, and gives those of dead workers to others. */
import { PgBoss } from 'pg-boss'
import type { FleetJob, FleetQueue, QueueNeeds, Release } from '../fleet-store.ts'
import type { PgAsking } from './asking.ts'

export type Boss = {
  queue: FleetQueue
  /** Runs inside the caller's transaction. */
  put(asking: PgAsking, queue: string, releases: readonly Release[], heartbeatSeconds: number): Promise<void>
  close(): Promise<void>
}

export type BossOptions = { schema: string; onError: (cause: unknown) => void }

type Carried = { task: string; merge?: true }

/** As long as pg-boss allows: only a missing heartbeat may end a job. A worker gives a task back before that. */
const LONGEST_SECONDS = 24 * 3_600 - 1
const KEPT_SECONDS = 24 * 3_600
/** A worker that takes a task counts how many others have died while running it, and gives up. */
const RETRIES = 1_000_000

export async function openBoss(asking: PgAsking, { schema, onError }: BossOptions): Promise<Boss> {
  const boss = new PgBoss({
    db: asDatabase(asking),
    schema,
    supervise: false, // one process does, see `supervise`
    schedule: false,
    monitorIntervalSeconds: 1, // how often the supervisor may look for dead workers
  })
  boss.on('error', onError)
  await boss.start()
  const known = new Set<string>()

  async function mustHave(queue: string): Promise<void> {
    if (known.has(queue)) return
    if (!(await boss.getQueue(queue)))
      await boss.createQueue(queue, {
        expireInSeconds: LONGEST_SECONDS,
        retryLimit: RETRIES,
        retryDelay: 0,
        retentionSeconds: 14 * KEPT_SECONDS,
        deleteAfterSeconds: KEPT_SECONDS,
      })
    known.add(queue)
  }

  return {
    async put(inside, queue, releases, heartbeatSeconds) {
      await mustHave(queue)
      const jobs = releases.map(({ task, merge }) => {
        const data: Carried = { task, ...(merge ? { merge } : {}) }
        return { data, heartbeatSeconds, priority: merge ? 1 : 0 } // proven work comes first
      })
      await boss.insert(queue, jobs, { db: asDatabase(inside) })
    },

    queue: {
      async queues() {
        const rows = await asking.all('SELECT * FROM fleet_queue')
        return rows as QueueNeeds[] // the columns are the fields
      },
      async fetch(queue, most) {
        const jobs = await boss.fetch<Carried>(queue, { batchSize: most, includeMetadata: true })
        return jobs.map((job) => ({ id: job.id, queue, tries: job.retryCount, ...job.data }))
      },
      touch: async (job) => isOurs(await boss.touch(job.queue, attemptOf(job))),
      settle: async (job) => isOurs(await boss.complete(job.queue, attemptOf(job))),
      supervise: () => boss.supervise(),
    },

    close: () => boss.stop({ graceful: false, close: false }),
  }
}

/** A job is settled by the attempt that was fetched, so that a late worker cannot settle the next one. */
function attemptOf({ id, tries }: FleetJob): { id: string; retryCount: number } {
  return { id, retryCount: tries }
}

/** Its types do not say what it returns: the number of affected jobs. */
function isOurs(answer: object): boolean {
  return Number((answer as { affected?: number }).affected) > 0
}

/** Uses the connections of the store, and works inside its transactions. */
function asDatabase({ query }: PgAsking): {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
} {
  return { executeSql: query }
}
