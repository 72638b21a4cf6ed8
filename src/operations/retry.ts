/** Retries a loop that stopped early, as a new one. */
import { measuredFrom } from '../drive/earlier.ts'
import { forkFrom, orCleanUp, stateLeft } from '../drive/fork.ts'
import { ended, type Loop, type Spec } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { fleetOf } from '../fleet/owner.ts'
import type { BoardTask } from '../formats/board-task.ts'
import type { Config } from '../formats/config.ts'
import { newLoopId } from '../host/loop-id.ts'
import { given } from '../request/given.ts'
import { type Changes, loopIn, ownerAgain, saying, specAgain } from './begin-again.ts'
import { beginTask, mustBeStartable, taskOf } from './begin-task.ts'
import { waitingComments } from './comments.ts'
import { findLoop } from './find-loop.ts'
import type { Context, Operation } from './operation.ts'
import { ownerOf } from './owners.ts'
import { retryFleetTask } from './retry-fleet-task.ts'
import { asStarted, inPlace, inWorktree, noteOthers, type Placed, type Started } from './start-loop.ts'

/** `words`: an extra message for its first iteration. */
export type Retrying = Changes & { loop: string; words?: string }

/** `from`: the loop it retries. */
export type Retried = Started & { from: string }

export const retry: Operation<Retrying, Retried> = {
  name: 'retry',
  effect: 'write',
  summary: 'Retries a loop that halted or was cancelled, as a new loop that continues from the current files.',
  async run(context, { loop: name, words, ...changes }) {
    const store = context.store()
    const parent = await store.load(await findLoop(context, name))
    if (parent.spec.work.owner?.kind === 'fleet') return again(context, parent, { ...changes, ...given({ words }) })
    mustHaveStopped(parent)
    const task = await taskOf(context, parent)
    if (task) mustBeNewest(await mustBeStartable(context, task.id), parent)
    const { spec, config, why } = await specAgain(context, parent, changes)
    const id = newLoopId()
    const placed = await placeOf(context, parent, { id, spec, config })
    await noteOthers(context, { id, spec: placed.spec })
    const loop = loopIn(context, id, placed, ownerAgain(context, parent, task))
    const first = [...waitingComments(parent), ...saying(words)]
    const begin = () =>
      task
        ? beginTask(context, task.id, async (now) => {
            mustBeNewest(now, parent)
            return { loop, first }
          })
        : store.create(loop, first)
    await (parent.spec.work.worktree ? orCleanUp<unknown>({ store }, { parent, id }, begin) : begin())
    return { ...asStarted(context, loop, why), from: parent.id }
  },
}

/** A worker takes it, with the agents and limits it was submitted with. */
async function again(
  context: Context,
  parent: Loop,
  { words, agent, limits }: Omit<Retrying, 'loop'>,
): Promise<Retried> {
  if (agent !== undefined || limits)
    throw new RalphError(
      'usage',
      'A task of the fleet keeps its agents and limits. Submit another one with `ralph submit`.',
    )
  const { loop } = await retryFleetTask.run(context, { task: fleetOf(parent).task, ...given({ words }) })
  return { loop, queued: true, from: parent.id }
}

function mustHaveStopped(loop: Loop): void {
  const { id, next } = loop
  if (!ended(loop))
    throw new RalphError(
      'loop-state',
      `Loop ${id} has not ended. Resume it with \`ralph resume ${id}\`, or cancel it first.`,
    )
  const refusal = ownerOf(loop).refuses?.(loop, { kind: 'retry' })
  if (refusal) throw refusal
  if (next.kind === 'complete')
    throw new RalphError(
      'loop-state',
      `Loop ${id} is complete, so there is nothing to retry. Continue from its work with \`ralph fork ${id}\`.`,
    )
}

type Placing = { id: string; spec: Spec; config: Config }

/** In the same folder; for work in its own worktree, in a new one that starts from the files left there. */
async function placeOf(context: Context, parent: Loop, { id, spec, config }: Placing): Promise<Placed> {
  const store = context.store()
  if (!parent.spec.work.worktree) {
    const work = { ...spec.work, parent: { loop: parent.id, iteration: parent.tally.iteration } }
    const placed = await inPlace(context, { id, spec: { ...spec, work } })
    return { ...placed, spec: await measuredFrom(store, placed.spec, placed.tree) }
  }
  const state = await stateLeft({ ...context, store }, parent)
  if (!state) return inWorktree(context, { id, spec, config })
  return forkFrom(context, parent, { id, spec, state, iteration: parent.tally.iteration, config })
}

/** The new loop replaces it. */
function mustBeNewest({ id, loop_id }: BoardTask, loop: Loop): void {
  if (loop_id !== loop.id)
    throw new RalphError('task-state', `Task ${id} has a newer loop, ${loop_id}. Retry that one.`)
}
