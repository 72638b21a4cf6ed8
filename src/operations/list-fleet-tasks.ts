/** Lists the tasks of the fleet. */
import type { FleetFilter } from '../host/fleet-store.ts'
import { given } from '../request/given.ts'
import { fleetStore } from './fleet-desk.ts'
import { type ListedFleetTask, listedTasks } from './fleet-tasks.ts'
import type { Operation } from './operation.ts'

const PAGE = 50

export const listFleetTasks: Operation<Omit<FleetFilter, 'ids'>, { tasks: ListedFleetTask[]; next?: string }> = {
  name: 'list_fleet_tasks',
  effect: 'read',
  summary: 'Lists the tasks of the fleet, newest first, and what each is waiting for.',
  agent: {},
  async run(context, { limit = PAGE, ...filter }) {
    const store = fleetStore(context)
    const { tasks, next } = await store.fleet.list({ ...filter, limit })
    return { tasks: await listedTasks(store, tasks), ...given({ next }) }
  },
}
