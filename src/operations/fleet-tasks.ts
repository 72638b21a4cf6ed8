/** Shared by the operations on fleet tasks. */

import { RalphError } from '../error.ts'
import { passOver } from '../fleet/pass.ts'
import { type Around, whyNot } from '../fleet/why.ts'
import { type FleetState, type FleetTask, WORKER_GONE_MS } from '../formats/fleet-task.ts'
import type { FleetRecords, FleetStore } from '../host/fleet-store.ts'

/** `why`: why no agent is working on it. Null: one is, or it has ended. */
export type ListedFleetTask = FleetTask & { why: string | null }

export async function mustFindTask({ fleet }: FleetStore, id: string): Promise<FleetTask> {
  const task = await fleet.load(id)
  if (task) return task
  throw new RalphError('task-unknown', `No such task in the fleet: "${id}". \`ralph status\` lists its tasks.`, {
    field: 'task',
  })
}

export async function listedTasks({ fleet }: FleetStore, tasks: readonly FleetTask[]): Promise<ListedFleetTask[]> {
  const around: Around = {
    held: tasks.some(({ state }) => state === 'ready') ? passOver(await fleet.view()).held : new Map(),
    states: await statesOf(
      fleet,
      tasks.filter(({ state }) => state === 'waiting').flatMap(({ depends_on }) => depends_on),
    ),
    silent: tasks.some(({ state }) => state === 'running') ? await silentWorkers(fleet) : new Map(),
  }
  return tasks.map((task) => ({ ...task, why: whyNot(task, around) }))
}

async function silentWorkers(fleet: Pick<FleetRecords, 'workers' | 'now'>): Promise<Map<string, number>> {
  const [workers, now] = [await fleet.workers.list(true), await fleet.now()]
  return new Map(workers.flatMap(({ id, beat_at }) => (now - beat_at < WORKER_GONE_MS ? [] : [[id, beat_at]])))
}

/** Leaves out ids that do not exist. */
export async function statesOf(
  fleet: Pick<FleetRecords, 'list'>,
  ids: readonly string[],
): Promise<Map<string, FleetState>> {
  const wanted = [...new Set(ids)]
  if (wanted.length === 0) return new Map()
  const { tasks } = await fleet.list({ ids: wanted, limit: wanted.length })
  return new Map(tasks.map(({ id, state }) => [id, state]))
}
