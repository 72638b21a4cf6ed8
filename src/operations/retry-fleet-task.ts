/** Retries a fleet task that failed or was cancelled, from what it pushed. */

import { RalphError } from '../error.ts'
import { fleetOf } from '../fleet/owner.ts'
import { type Asked, provisional } from '../fleet/submit.ts'
import type { FleetTask } from '../formats/fleet-task.ts'
import type { FleetStore } from '../host/fleet-store.ts'
import { saying } from './begin-again.ts'
import { waitingComments } from './comments.ts'
import { fleetStore } from './fleet-desk.ts'
import { mustFindTask, statesOf } from './fleet-tasks.ts'
import type { Operation } from './operation.ts'

/** `words`: an extra message for its first iteration. */
export type RetryingTask = { task: string; words?: string }

export const retryFleetTask: Operation<RetryingTask, { task: string; loop: string }> = {
  name: 'retry_fleet_task',
  effect: 'write',
  summary: 'Retries a fleet task that failed or was cancelled, with a new loop that continues from its branch.',
  async run(context, { task: id, words }) {
    const store = fleetStore(context)
    const task = await mustFindTask(store, id)
    if (!OVER.includes(task.state)) throw notOver(task)
    const before = await store.load(task.loop_id)
    const owner = fleetOf(before)
    const { request } = (await store.fleet.asked(id)) as Asked // stored in this form when it was submitted
    const loop = await provisional(request, { owner, agents: task.agents, now: await store.fleet.now() })
    const state = (await isReady(store, task)) ? 'ready' : 'waiting'
    const patch = { state, merge_job: false, sent_back: 0, sentence: null, due_at: null } as const
    const first = [...waitingComments(before), ...saying(words)]
    const isOurs = await store.fleet.again(id, { loop, first, patch, only: { from: OVER } })
    if (!isOurs) throw notOver(await mustFindTask(store, id))
    // Its dependencies may have finished just before it started to wait.
    if (state === 'waiting' && (await isReady(store, task)))
      await store.fleet.change(id, { state: 'ready' }, { from: ['waiting'] })
    return { task: id, loop: loop.id }
  },
}

const OVER = ['failed', 'cancelled'] as FleetTask['state'][]

async function isReady({ fleet }: FleetStore, { depends_on }: FleetTask): Promise<boolean> {
  const states = await statesOf(fleet, depends_on)
  return depends_on.every((id) => states.get(id) === 'done')
}

function notOver({ id, state }: FleetTask): RalphError {
  return new RalphError(
    'task-state',
    state === 'done'
      ? `Task ${id} is done, so there is nothing to retry.`
      : `Task ${id} has not ended: it is ${state}. Cancel it first: ralph cancel ${id}`,
  )
}
