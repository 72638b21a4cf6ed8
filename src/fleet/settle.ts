/** Updates a task of the fleet after its loop has moved. */
import { ended, type Loop } from '../engine/loop.ts'
import type { FleetState, FleetTask } from '../formats/fleet-task.ts'
import { FLEET_OVER } from '../formats/fleet-task.ts'
import type { FleetPatch } from '../host/fleet-store.ts'
import type { Store } from '../host/store.ts'
import { fleetOf } from './owner.ts'

/** Idempotent. If the task has a newer loop, that one decides instead. */
export async function settleTask({ fleet }: Pick<Store, 'fleet'>, loop: Loop): Promise<FleetTask | undefined> {
  const { task: id } = fleetOf(loop)
  const task = await fleet?.load(id)
  if (!fleet || !task || task.loop_id !== loop.id) return task
  // It had halted on a limit, which has been raised.
  if (task.state === 'failed' && !ended(loop)) return fleet.change(id, requeue(task), { from: ['failed'] })
  if (FLEET_OVER.includes(task.state)) return task
  return fleet.change(id, patchAfter(task, loop), { from: OPEN })
}

// A task that is waiting for its merge has been settled before.
const OPEN: readonly FleetState[] = ['waiting', 'ready', 'released', 'running', 'resting']

function patchAfter(task: FleetTask, loop: Loop): FleetPatch {
  const { next } = loop
  if (next.kind === 'complete')
    return { state: task.project && task.repo ? 'merging' : 'done', sentence: next.sentence, due_at: null }
  if (next.kind === 'halt')
    return { state: next.reason === 'cancelled' ? 'cancelled' : 'failed', sentence: next.sentence, due_at: null }
  if (next.kind !== 'wait') return onward(task)
  // It was resumed before it had started; the worker that delivered the order does not continue with it.
  if (next.why === 'queued') return task.state === 'running' ? requeue(task) : onward(task)
  return { state: 'resting', sentence: next.question ?? null, due_at: next.until ?? null }
}

/** It wants to continue. A worker that has it, or is about to get it, continues it. */
function onward(task: FleetTask): FleetPatch {
  return task.state === 'resting' ? requeue(task) : {}
}

/** A task with open dependencies keeps waiting. */
function requeue({ depends_on }: FleetTask): FleetPatch {
  return { state: depends_on.length > 0 ? 'waiting' : 'ready', sentence: null, due_at: null }
}
