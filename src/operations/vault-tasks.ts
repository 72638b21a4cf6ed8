/** The task API as operations: the caller works on the tasks of a vault. */
import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { Next } from '../engine/loop.ts'
import type { TaskProgress, TaskState } from '../formats/task-state.ts'
import { pathBelow } from '../host/files.ts'
import { given } from '../request/given.ts'
import { type BentAnswers, bentAnswers } from '../vault/answers.ts'
import type { CompletedTask, CountedIteration, StartedTask, StoppedTask } from '../vault/contract.ts'
import { TaskNotFoundError } from '../vault/errors.ts'
import { taskIdOf } from '../vault/place.ts'
import { RalphWiggum } from '../vault/ralph-wiggum.ts'
import type { Context, Operation } from './operation.ts'
import { pruneOld } from './prune.ts'
import { mustBeVault, vaultFor } from './vault-place.ts'

export type { BentAnswers } from '../vault/answers.ts'
export type { CompletedTask, CountedIteration, StartedTask, StoppedTask } from '../vault/contract.ts'
export { TaskError } from '../vault/errors.ts'

/** `vault`: default RALPH_VAULT, or the one that contains the current folder. `task`: its id, or the path of its file. */
export type TaskOf = { vault?: string; task: string }

export type ProgressedTask = { task_id: string; progress: TaskProgress }

export type ListedTask = Omit<TaskState, 'iterations_history'>

export const startTask: Operation<
  { vault?: string; file: string; maxIterations?: number; timeoutMinutes?: number },
  StartedTask
> = {
  name: 'start_vault_task',
  effect: 'write',
  summary: 'Starts a task in a vault. The caller does the work.',
  async run(context, { vault: named, file, maxIterations, timeoutMinutes }) {
    const vault = vaultFor(context, { ...given({ named }), file })
    const here = resolve(context.cwd, file)
    await pruneOld(context, { dir: vault })
    return withTasks(context, vault, (tasks) =>
      tasks.startTask({
        task_file: existsSync(here) && (named === undefined || !existsSync(resolve(vault, file))) ? here : file,
        ...(maxIterations === undefined ? {} : { max_iterations: maxIterations }),
        ...(timeoutMinutes === undefined ? {} : { timeout_minutes: timeoutMinutes }),
      }),
    )
  },
}

export const isTaskComplete: Operation<TaskOf, { task_id: string; complete: boolean }> = {
  name: 'is_vault_task_complete',
  effect: 'read',
  summary: 'Checks whether the file of a task is in the folder for completed tasks.',
  run: (context, asked) =>
    withTask(context, asked, async (tasks, task_id) => ({
      task_id,
      complete: await tasks.checkTaskComplete(task_id),
    })),
}

/** Without `seconds`: the time since the task last changed. */
export const iterateTask: Operation<TaskOf & { action: string; result: string; seconds?: number }, CountedIteration> = {
  name: 'iterate_vault_task',
  effect: 'write',
  summary: 'Records a finished iteration of a task.',
  run: (context, { action, result, seconds, ...asked }) =>
    withTask(context, asked, async (tasks, task_id, vault) => {
      const since = (await context.store().tasks.load(vault, task_id))?.movedAt
      const measured = since === undefined ? 0 : Math.max(0, context.now() - since) / 1_000
      return tasks.incrementIteration({ task_id, action, result, duration_seconds: seconds ?? measured })
    }),
}

/** `why`: why it stopped early, or what it asks. `bent`: how to answer if approval is not enough. */
export type FoundTask = { state: TaskState; why?: string; bent?: BentAnswers }

export const getTask: Operation<TaskOf & { history?: number }, FoundTask> = {
  name: 'get_vault_task',
  effect: 'read',
  summary: 'Shows a task: status, limits, progress, iterations.',
  run: (context, { history, ...asked }) =>
    withTask(context, asked, async (tasks, task_id, vault) => {
      const state = await tasks.getTaskState({
        task_id,
        ...(history === undefined ? {} : { history_limit: history }),
      })
      return { state, ...(await aboutOf(context, vault, task_id)) }
    }),
}

export const reportProgress: Operation<TaskOf & { total: number; completed: number; step: string }, ProgressedTask> = {
  name: 'report_vault_progress',
  effect: 'write',
  summary: 'Records the progress of a task.',
  run: (context, { total, completed, step, ...asked }) =>
    withTask(context, asked, (tasks, task_id) =>
      tasks.updateProgress({ task_id, steps_total: total, steps_completed: completed, current_step: step }),
    ),
}

export const completeTask: Operation<TaskOf & { reason?: string }, CompletedTask> = {
  name: 'complete_vault_task',
  effect: 'write',
  summary: 'Completes a task whose file is in the folder for completed tasks and whose checks pass.',
  run: (context, { reason, ...asked }) =>
    withTask(context, asked, (tasks, task_id) =>
      tasks.completeTask({ task_id, ...(reason === undefined ? {} : { exit_reason: reason }) }),
    ),
}

export const timeOutTask: Operation<TaskOf, StoppedTask> = {
  name: 'time_out_vault_task',
  effect: 'destroy',
  summary: 'Ends a task that has run out of time. Its progress is kept.',
  run: (context, asked) => withTask(context, asked, (tasks, task_id) => tasks.handleTimeout(task_id)),
}

export const exhaustTask: Operation<TaskOf, StoppedTask> = {
  name: 'exhaust_vault_task',
  effect: 'read',
  summary: 'Shows the result of a task that has used all its iterations.',
  run: (context, asked) => withTask(context, asked, (tasks, task_id) => tasks.handleMaxIterations(task_id)),
}

export const approveTask: Operation<TaskOf & { note?: string }, TaskState> = {
  name: 'approve_vault_task',
  effect: 'write',
  summary: 'Approves a task that is waiting for a person, so that it continues.',
  run: (context, { note, ...asked }) =>
    withTask(context, asked, (tasks, task_id) => tasks.approveTask({ task_id, ...given({ note }) })),
}

export const rejectTask: Operation<TaskOf & { reason?: string }, FoundTask> = {
  name: 'reject_vault_task',
  effect: 'destroy',
  summary: 'Rejects a task that is waiting for a person. The task then counts as failed.',
  run: (context, { reason, ...asked }) =>
    withTask(context, asked, async (tasks, task_id, vault) => {
      const state = await tasks.rejectTask({ task_id, ...given({ reason }) })
      return { state, ...(await aboutOf(context, vault, task_id)) }
    }),
}

/** `bent`: how to answer tasks for which approval is not enough. */
export type ListedTasks = { tasks: ListedTask[]; bent: (BentAnswers & { task_id: string })[] }

export const listTasks: Operation<{ vault?: string }, ListedTasks> = {
  name: 'list_vault_tasks',
  effect: 'read',
  summary: 'Lists the tasks in a vault, oldest first.',
  async run(context, { vault: named }) {
    const vault = vaultFor(context, given({ named }))
    mustBeVault(context, vault)
    const tasks = await withTasks(context, vault, (each) => each.listTasks())
    const waiting = tasks.filter(({ status }) => status === 'waiting_approval')
    const bent = await Promise.all(
      waiting.map(async ({ task_id }) => ({ task_id, ...(await aboutOf(context, vault, task_id)) })),
    )
    return { tasks, bent: bent.flatMap(({ task_id, bent: how }) => (how ? [{ task_id, ...how }] : [])) }
  },
}

async function withTasks<Result>(
  { env, home, now, note, ...context }: Context,
  vault: string,
  work: (tasks: RalphWiggum) => Promise<Result>,
): Promise<Result> {
  // A shared store stays open for other callers.
  const store = context.store()
  const shared = store.shared ? { ...store, close: async () => {} } : undefined
  const tasks = new RalphWiggum({ vaultPath: vault, env, home, now, onNote: note }, shared)
  try {
    return await work(tasks)
  } finally {
    await tasks.close()
  }
}

async function withTask<Result>(
  context: Context,
  { vault: named, task }: TaskOf,
  work: (tasks: RalphWiggum, id: string, vault: string) => Promise<Result>,
): Promise<Result> {
  const vault = vaultFor(context, given({ named }))
  mustBeVault(context, vault)
  return withTasks(context, vault, async (tasks) =>
    work(tasks, await idMeant(tasks, task, { vault, cwd: context.cwd }), vault),
  )
}

/** People also give the file or its path. Only the exact file of a task identifies it. */
async function idMeant(tasks: RalphWiggum, given: string, at: { vault: string; cwd: string }): Promise<string> {
  const stem = taskIdOf(given)
  const isPath = given.includes('/')
  if (stem === given || (isPath && !isInside(at, given))) return given
  if (!isPath && (await fileOf(tasks, given)) !== undefined) return given
  return (await fileOf(tasks, stem)) === basename(given) ? stem : given
}

function isInside({ vault, cwd }: { vault: string; cwd: string }, path: string): boolean {
  return [cwd, vault].some((base) => pathBelow(vault, resolve(base, path)) !== undefined)
}

async function fileOf(tasks: RalphWiggum, id: string): Promise<string | undefined> {
  try {
    return basename((await tasks.getTaskState({ task_id: id, history_limit: 0 })).task_file)
  } catch (cause) {
    if (cause instanceof TaskNotFoundError) return undefined
    throw cause
  }
}

async function aboutOf({ store }: Context, vault: string, id: string): Promise<Omit<FoundTask, 'state'>> {
  const row = await store().tasks.load(vault, id)
  if (!row) return {}
  const loop = await store().load(row.loop)
  const { next } = loop
  return given({ why: whyOf(next), bent: bentAnswers(loop) })
}

function whyOf(next: Next): string | undefined {
  if (next.kind === 'halt') return next.sentence
  if (next.kind !== 'wait') return undefined
  return next.why === 'cooldown' ? next.stop.sentence : next.question
}
