/** The fleet, or one of its tasks, as `ralph status` shows it. */
import { FLEET_OVER, FLEET_STATES, type FleetState } from '../../formats/fleet-task.ts'
import type { ListedFleetTask } from '../../operations/fleet-tasks.ts'
import { getFleet } from '../../operations/get-fleet.ts'
import { getFleetTask } from '../../operations/get-fleet-task.ts'
import { listFleetTasks } from '../../operations/list-fleet-tasks.ts'
import { given } from '../../request/given.ts'
import type { Context } from './context.ts'
import { fleetLines, taskStory } from './fleet-view.ts'
import { jsonLine } from './text.ts'

const OPEN: readonly FleetState[] = FLEET_STATES.filter((state) => !FLEET_OVER.includes(state))
const MOST = 50

/** `all`: includes tasks that have ended, and lists every task. */
export async function drawFleet(context: Context, { json, all }: { json: boolean; all: boolean }): Promise<string> {
  const fleet = await getFleet.run(context, {})
  const tasks = await listAll(context, all)
  if (json)
    return [jsonLine({ type: 'fleet', ...fleet }), ...tasks.map((task) => jsonLine({ type: 'task', ...task }))].join('')
  const open = OPEN.reduce((sum, state) => sum + (fleet.counts[state] ?? 0), 0)
  const more = all || open <= tasks.length ? '' : `… and ${open - tasks.length} more: ralph fleet --all\n`
  return fleetLines(fleet, tasks, context.out) + more
}

async function listAll(context: Context, all: boolean): Promise<ListedFleetTask[]> {
  const found: ListedFleetTask[] = []
  for (let after: string | undefined; ; ) {
    const limit = all ? 500 : MOST
    const page = await listFleetTasks.run(context, { ...(all ? {} : { state: OPEN }), limit, ...given({ after }) })
    found.push(...page.tasks)
    after = page.next
    if (after === undefined || !all) return found
  }
}

export async function drawTask(context: Context, task: string, { json }: { json: boolean }): Promise<string> {
  const found = await getFleetTask.run(context, { task })
  return json ? jsonLine({ type: 'task', ...found }) : taskStory(found, context.out)
}
