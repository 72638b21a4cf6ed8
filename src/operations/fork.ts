/** Starts a new loop from a state of another one, in its own worktree. */
import { forkFrom, orCleanUp, stateAfter } from '../drive/fork.ts'
import { ended, type Loop } from '../engine/loop.ts'
import type { BoardTask } from '../formats/board-task.ts'
import { newLoopId } from '../host/loop-id.ts'
import { type Changes, loopIn, ownerAgain, saying, specAgain } from './begin-again.ts'
import { beginTask, mustBeStartable, taskOf } from './begin-task.ts'
import { waitingComments } from './comments.ts'
import { findLoop } from './find-loop.ts'
import type { Context, Operation } from './operation.ts'
import { ownerOf } from './owners.ts'
import { asStarted, type Started } from './start-loop.ts'

/** `iteration`: start after that one; 0 is the start. Absent: the last one. `words`: an extra message for its first iteration. */
export type Forking = Changes & { loop: string; iteration?: number; prompt?: string; words?: string }

/** `from`: the loop it was forked from. */
export type Forked = Started & { from: string; iteration: number }

export const fork: Operation<Forking, Forked> = {
  name: 'fork',
  effect: 'write',
  summary: 'Forks a loop: a new loop continues after any of its iterations, in its own worktree.',
  agent: { tool: 'fork_loop', description: 'The original loop and its files do not change.', openWorld: true },
  async run(context, { loop: name, iteration: asked, prompt, words, ...changes }) {
    const store = context.store()
    const parent = await store.load(await findLoop(context, name))
    const refusal = ownerOf(parent).refuses?.(parent, { kind: 'fork' })
    if (refusal) throw refusal
    const task = await taskTakenOver(context, parent)
    const iteration = asked ?? parent.tally.iteration
    const { spec, config, why } = await specAgain(context, parent, changes)
    const state = await stateAfter(parent, iteration)
    const id = newLoopId()
    const asks = prompt === undefined ? spec : { ...spec, prompt }
    const placed = await forkFrom(context, parent, { id, spec: asks, state, iteration, config })
    const loop = loopIn(context, id, placed, ownerAgain(context, parent, task))
    const first = [...waitingComments(parent), ...saying(words)]
    await orCleanUp({ store }, { parent, id }, async () => {
      if (task) await beginTask(context, task.id, async () => ({ loop, first }))
      else await store.create(loop, first)
    })
    return { ...asStarted(context, loop, why), from: parent.id, iteration }
  },
}

/** A fork of the newest loop of a task replaces it once that has ended; any other fork does not affect the task. */
async function taskTakenOver(context: Context, parent: Loop): Promise<BoardTask | undefined> {
  const task = ended(parent) ? await taskOf(context, parent) : undefined
  return task?.loop_id === parent.id && !task.archived ? mustBeStartable(context, task.id) : undefined
}
