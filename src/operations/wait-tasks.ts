/** Waits until tasks of the fleet have ended. */
import { setTimeout as sleep } from 'node:timers/promises'
import { brokenDependency, isOver } from '../fleet/why.ts'
import type { FleetTask } from '../formats/fleet-task.ts'
import type { FleetStore } from '../host/fleet-store.ts'
import { fleetStore } from './fleet-desk.ts'
import { type ListedFleetTask, listedTasks, statesOf } from './fleet-tasks.ts'
import type { Context } from './operation.ts'

/** `saw`: called for every state change, including the initial states. */
export type Waiting = { saw(task: ListedFleetTask): void; signal: AbortSignal }

/** Batches changes that arrive together. */
const TOGETHER_MS = 50
const LOOK_MS = 2_000
const CHUNK = 500

/** The tasks in their final state; undefined: the caller stopped waiting. Does not wait for tasks that can no longer start. */
export async function waitTasks(
  context: Context,
  ids: readonly string[],
  { saw, signal }: Waiting,
): Promise<FleetTask[] | undefined> {
  const store = fleetStore(context)
  const known = new Map<string, string>()
  let wake = () => {}
  const unwatch = store.onChange(() => wake())
  const idle = setInterval(() => wake(), LOOK_MS)
  signal.addEventListener('abort', () => wake(), { once: true })
  try {
    while (!signal.aborted) {
      const woken = new Promise<void>((done) => {
        wake = done
      })
      const tasks = await loadAll(store, ids)
      const changed = tasks.filter((task) => known.get(task.id) !== markOf(task))
      for (const task of changed) known.set(task.id, markOf(task))
      for (const task of await listedTasks(store, changed)) saw(task)
      if (await areOver(store, tasks)) {
        for (const task of await listedTasks(
          store,
          tasks.filter((one) => !isOver(one)),
        ))
          saw(task) // by now it says why it will not start
        return tasks
      }
      await woken
      await sleep(TOGETHER_MS)
    }
    return undefined
  } finally {
    unwatch()
    clearInterval(idle)
  }
}

/** Whether a change is worth a line. */
function markOf({ state, sentence }: FleetTask): string {
  return state === 'resting' ? `${state} ${sentence}` : state
}

async function loadAll({ fleet }: FleetStore, ids: readonly string[]): Promise<FleetTask[]> {
  const tasks: FleetTask[] = []
  for (let at = 0; at < ids.length; at += CHUNK)
    tasks.push(...(await fleet.list({ ids: ids.slice(at, at + CHUNK), limit: CHUNK })).tasks)
  return tasks
}

/** Nothing happens to it until a person answers or resumes it. */
export function needsPerson({ state, due_at }: FleetTask): boolean {
  return state === 'resting' && due_at === null
}

/** A task behind a failed one waits until that is retried; so do the tasks behind it. */
async function areOver({ fleet }: FleetStore, tasks: readonly FleetTask[]): Promise<boolean> {
  const open = tasks.filter((task) => !isOver(task))
  if (open.some((task) => task.state !== 'waiting' && !needsPerson(task))) return false
  const states = await statesOf(
    fleet,
    open.flatMap(({ depends_on }) => depends_on),
  )
  const isStuck = (task: FleetTask) => needsPerson(task) || brokenDependency(task, states) !== undefined
  const stuck = new Set(open.filter(isStuck).map(({ id }) => id))
  for (let before = -1; before !== stuck.size; ) {
    before = stuck.size
    for (const { id, depends_on } of open) if (depends_on.some((other) => stuck.has(other))) stuck.add(id)
  }
  return open.every(({ id }) => stuck.has(id))
}
