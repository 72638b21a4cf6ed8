/** The whole fleet in Postgres: its tasks, its scheduler's passes, its queue, its workers. */
import type { FleetRecords } from '../fleet-store.ts'
import type { PgAsking } from './asking.ts'
import { fleetHealth, mayMakeQueue } from './fleet-health.ts'
import { type Boss, openBoss } from './fleet-queue.ts'
import { fleetTasks } from './fleet-records.ts'
import { fleetPass, viewOf } from './fleet-scheduling.ts'
import { fleetWorkers } from './fleet-workers.ts'

/** `schema`: where the queue's own tables are. `crowd`: about how many slots all workers have. */
type Around = {
  schema: string
  now: () => number
  crowd: (slots: number) => void
  onError: (cause: unknown) => void
}

/** The queue is opened when it is first needed: whoever only reads tasks needs no access to it. */
export function openFleet(
  asking: PgAsking,
  { schema, now, crowd, onError }: Around,
): FleetRecords & { close(): Promise<void> } {
  let opening: Promise<Boss> | undefined
  const boss = async () => {
    opening ??= openBoss(asking, { schema, onError })
    try {
      return await opening
    } catch (cause) {
      opening = undefined // the next caller tries again
      throw cause
    }
  }
  const known = fleetWorkers(asking)
  return {
    ...fleetTasks(asking, now),
    ...known,
    workers: {
      ...known.workers,
      async announce(worker, isProgress) {
        const announced = await known.workers.announce(worker, isProgress)
        crowd(announced.workers * worker.concurrency)
        return announced
      },
    },
    async health() {
      if (await mayMakeQueue(asking, schema)) await boss() // all others may depend on it
      return fleetHealth(asking, schema)
    },
    view: () => viewOf(asking),
    pass: async (holder, decide) => fleetPass(asking, await boss(), { holder, decide }),
    queue: {
      queues: async () => (await boss()).queue.queues(),
      fetch: async (queue, most) => (await boss()).queue.fetch(queue, most),
      touch: async (job) => (await boss()).queue.touch(job),
      settle: async (job) => (await boss()).queue.settle(job),
      supervise: async () => (await boss()).queue.supervise(),
    },
    async close() {
      const open = await opening?.catch(() => undefined)
      await open?.close()
    },
  }
}
