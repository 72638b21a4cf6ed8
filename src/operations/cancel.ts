/** Cancels a loop. */
import { ended } from '../engine/loop.ts'
import { fleetOf } from '../fleet/owner.ts'
import { findLoop, findOpenLoops } from './find-loop.ts'
import { type Given, giveOrder } from './give-order.ts'
import type { Context, Operation } from './operation.ts'

export const cancel: Operation<{ loop?: string }, Given[]> = {
  name: 'cancel',
  effect: 'destroy',
  summary: 'Cancels a loop, or all open loops of a project. A running agent is stopped at once.',
  agent: { tool: 'stop_loop', idempotent: true },
  async run(context, { loop }) {
    const unmerged = await leaveUnmerged(context, loop)
    if (unmerged) return [unmerged]
    return Promise.all((await findOpenLoops(context, loop)).map((id) => giveOrder(context, id, { kind: 'cancel' })))
  },
}

/** The loop of a task that waits for its merge has ended; this cancels the merge. */
async function leaveUnmerged(context: Context, name: string | undefined): Promise<Given | undefined> {
  const { fleet } = context.store()
  if (!fleet || name === undefined) return undefined
  const loop = await context.store().load(await findLoop(context, name))
  if (!ended(loop) || loop.spec.work.owner?.kind !== 'fleet') return undefined
  const { task: id } = fleetOf(loop)
  const sentence = 'Cancelled before the merge. Its work is on its branch.'
  const task = await fleet.change(id, { state: 'cancelled', merge_job: false, sentence }, { from: ['merging'] })
  return task && { loop: loop.id, heard: 'here' }
}
