/** Changes a task on the board, or deletes it. */
import { isDeepStrictEqual } from 'node:util'
import { mustFind, mustMakeSense, mustNotBeWaitedFor, mustNotWaitForItself } from '../board/task.ts'
import { ended, statusOf } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { type BoardPatch, type BoardTask, patchTask } from '../formats/board-task.ts'
import { refuseBelowTurn } from './below-turn.ts'
import { loopOf } from './get-task.ts'
import type { Context, Operation } from './operation.ts'

/** `version`: the one the caller read. Absent: any. */
type Updating = BoardPatch & { task_id: string; version?: number }

export const updateTask: Operation<Updating, BoardTask> = {
  name: 'update_task',
  effect: 'write',
  summary: 'Changes fields of a task. null restores a default; omitted fields stay.',
  agent: { description: 'A running loop keeps the settings it started with.' },
  person: true, // an agent must not choose the checks that it is judged by
  async run(context, { task_id: id, version, ...patch }) {
    await refuseBelowTurn(context)
    const { board } = context.store()
    for (;;) {
      const task = await mustBeCurrent(context, id, version)
      const changed = patchTask(task, patch)
      if (isDeepStrictEqual(changed, task)) return task
      await mustMakeSense({ board }, changed, patch)
      if (changed.status !== task.status && changed.status !== 'in-progress') await mustRest(context, task)
      if (ASKED_FOR.some((field) => !isDeepStrictEqual(changed[field], task[field])))
        await mustNotBeQueued(context, task)
      const saved = await board.save(
        changed,
        patch.depends_on ? (all) => mustNotWaitForItself(changed, all) : undefined,
      )
      if (saved) return saved
    }
  },
}

export const deleteTask: Operation<{ task_id: string; version?: number }, { task_id: string }> = {
  name: 'delete_task',
  effect: 'destroy',
  summary: 'Deletes a task from the board. Its loops and their history are kept.',
  agent: {},
  person: true,
  async run(context, { task_id: id, version }) {
    await refuseBelowTurn(context)
    for (;;) {
      const task = await mustBeCurrent(context, id, version)
      await mustRest(context, task)
      const mustHold = (all: readonly BoardTask[]) => mustNotBeWaitedFor(task, all)
      if (await context.store().board.remove(id, task.version, mustHold)) return { task_id: id }
    }
  },
}

async function mustBeCurrent(context: Context, id: string, version: number | undefined): Promise<BoardTask> {
  const task = await mustFind(context.store(), id)
  if (version === undefined || task.version === version) return task
  throw new RalphError(
    'task-changed',
    `Task ${id} has changed: you read version ${version}, it is now at ${task.version}. Read it again, then change it.`,
    { field: 'version' },
  )
}

/** The fields that the loop of a task is built from. */
const ASKED_FOR = [
  'title',
  'description',
  'use_ralph_wiggum',
  'ralph_max_iterations',
  'ralph_completion_promise',
  'checks',
  'stages',
  'limits',
  'agent',
  'repo',
  'worktree',
] as const satisfies readonly (keyof BoardTask)[]

/** A queued loop already exists, and would start with the old settings. */
async function mustNotBeQueued(context: Context, task: BoardTask): Promise<void> {
  const loop = await loopOf(context, task)
  if (!loop || statusOf(loop) !== 'queued') return
  throw new RalphError(
    'task-state',
    `Task ${task.id} is queued as loop ${loop.id}, which would keep the old settings. Cancel it with \`ralph cancel ${loop.id}\`, change the task, and start it again.`,
  )
}

/** A task must be stopped before it is moved or deleted. */
async function mustRest(context: Context, task: BoardTask): Promise<void> {
  const loop = await loopOf(context, task)
  if (!loop || ended(loop)) return
  throw new RalphError(
    'task-state',
    `Task ${task.id} is being worked on by loop ${loop.id}. Stop it first: ralph cancel ${loop.id}`,
    { field: 'status' },
  )
}
