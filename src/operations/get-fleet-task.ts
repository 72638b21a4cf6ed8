/** Shows a task of the fleet and the state of its loop. */
import { fleetStore } from './fleet-desk.ts'
import { type ListedFleetTask, listedTasks, mustFindTask } from './fleet-tasks.ts'
import { loopOf } from './get-task.ts'
import type { Operation } from './operation.ts'
import { type Standing, standingOf } from './standing.ts'

export type FoundFleetTask = ListedFleetTask & { standing: Standing | null }

export const getFleetTask: Operation<{ task: string }, FoundFleetTask> = {
  name: 'get_fleet_task',
  effect: 'read',
  summary: 'Shows a task of the fleet: its state, what it waits for, and its loop.',
  async run(context, { task: id }) {
    const store = fleetStore(context)
    const found = await mustFindTask(store, id)
    const [task = { ...found, why: null }] = await listedTasks(store, [found])
    const loop = await loopOf({ store: () => store }, found)
    return { ...task, standing: loop ? standingOf(loop) : null }
  },
}
