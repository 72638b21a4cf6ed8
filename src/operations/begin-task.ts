/** Turns a task on the board into a loop. */
import { type BoardOwner, boardOf } from '../board/owner.ts'
import { mustFind, requestOf, waitsFor } from '../board/task.ts'
import { ended, type Loop, statusOf } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import type { BoardTask } from '../formats/board-task.ts'
import type { Telling } from '../host/store.ts'
import { loopOf } from './get-task.ts'
import type { Context } from './operation.ts'
import type { Asking } from './start-loop.ts'

export function ownerOfTask({ id }: BoardTask): BoardOwner {
  return { kind: 'board', task: id }
}

/** The folder of the task, else of its group, else the current one. */
export async function askingOf({ store }: Context, task: BoardTask): Promise<Asking> {
  const group = (await store().board.groups()).find(({ project_id }) => project_id === task.project_id)
  const dir = task.repo ?? group?.repo
  return { ...requestOf(task), agent: task.agent, worktree: task.worktree, ...(dir ? { dir } : {}) }
}

/** A task with open dependencies is queued until they are done, or refused if no worker would start it then. */
export async function mustBeStartable(context: Context, id: string): Promise<BoardTask> {
  const task = await mustFind(context.store(), id)
  if (task.archived) throw new RalphError('task-state', `Task ${id} is archived. Unarchive it, then start it.`)
  const loop = await loopOf(context, task)
  if (loop && !ended(loop))
    throw new RalphError(
      'task-state',
      `Task ${id} already has a loop, ${loop.id}, which is ${statusOf(loop)}. ${(await context.store().isDriven(loop.id)) ? `Watch it with \`ralph show ${loop.id} --follow\`` : `Resume it with \`ralph resume ${loop.id}\``}, or cancel it first.`,
    )
  const missing = context.workers ? [] : await waitsFor(context.store(), task)
  if (missing.length > 0)
    throw new RalphError(
      'task-state',
      `Task ${id} is waiting for ${missing.join(', ')}. Finish those first, or start it while \`ralph serve\` is running, which queues it.`,
    )
  return task
}

/** `first`: what the loop receives first. */
type Prepared = { loop: Loop; first?: readonly Telling[] }

/** Builds a loop from the current task; if the task changes meanwhile, tries again. */
export async function beginTask<Made extends Prepared>(
  context: Context,
  id: string,
  prepare: (task: BoardTask) => Promise<Made>,
): Promise<Made> {
  for (;;) {
    const task = await mustBeStartable(context, id)
    const made = await prepare(task)
    const begun = { ...task, loop_id: made.loop.id, status: 'in-progress' as const }
    if (await context.store().board.begin(begun, made.loop, made.first)) return made
  }
}

/** The task on the board that a loop was made for, if it still exists. */
export async function taskOf({ store }: Context, loop: Loop): Promise<BoardTask | undefined> {
  const id = loop.spec.work.owner?.kind === 'board' ? boardOf(loop).task : undefined
  return id === undefined ? undefined : store().board.load(id)
}
