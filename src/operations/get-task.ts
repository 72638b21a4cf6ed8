/** Shows a task on the board, the state of its loop, and its prompt. */
import { mustFind, waitsFor } from '../board/task.ts'
import { wasAccepted } from '../drive/accept.ts'
import { ended, type Status, statusOf } from '../engine/loop.ts'
import { isRalphError } from '../error.ts'
import { type BoardTask, toPrompt } from '../formats/board-task.ts'
import type { Context, Operation } from './operation.ts'
import { type Standing, standingOf } from './standing.ts'

/** `waits_for`: the tasks that must be done before it starts. */
export type ListedTask = BoardTask & { loop_status: Status | null; waits_for: string[] }

export type FoundTask = ListedTask & { standing: Standing | null }

export const getTask: Operation<{ task_id: string }, FoundTask> = {
  name: 'get_task',
  effect: 'read',
  summary: 'Shows a task on the board, and the state of its loop.',
  agent: {},
  report: true,
  async run(context, { task_id: id }) {
    const task = await mustFind(context.store(), id)
    const loop = await loopOf(context, task)
    const standing = loop ? standingOf(loop, { accepted: await wasAccepted(loop) }) : null
    return { ...(await listed(context, task)), standing }
  },
}

export const getTaskPrompt: Operation<{ task_id: string }, { prompt: string }> = {
  name: 'get_task_prompt',
  effect: 'read',
  summary: 'Shows the prompt of a task: with its completion criteria, or plain if it does not loop.',
  run: async (context, { task_id: id }) => ({ prompt: toPrompt(await mustFind(context.store(), id)) }),
}

export async function listed(context: Context, task: BoardTask): Promise<ListedTask> {
  const loop = await loopOf(context, task)
  const waits_for = !loop || !ended(loop) ? await waitsFor(context.store(), task) : []
  return { ...task, loop_status: loop ? statusOf(loop) : null, waits_for }
}

/** The newest loop of a task; undefined if there is none, or it was deleted. */
export async function loopOf(
  { store }: Pick<Context, 'store'>,
  { loop_id: id }: Pick<BoardTask, 'loop_id'>,
): Promise<Awaited<ReturnType<ReturnType<Context['store']>['load']>> | undefined> {
  if (id === null) return undefined
  try {
    return await store().load(id)
  } catch (cause) {
    if (isRalphError(cause) && cause.code === 'loop-unknown') return undefined // its database was lost
    throw cause
  }
}
