/** Creating and changing tasks of the board, and turning one into a request. */
import { parseAgents } from '../agents/index.ts'
import { graphProblem } from '../engine/graph.ts'
import { RalphError } from '../error.ts'
import { fieldTrouble } from '../formats/board-fields.ts'
import {
  BOARD_DEFAULTS,
  type BoardFields,
  type BoardPatch,
  type BoardTask,
  patchTask,
  promptOf,
} from '../formats/board-task.ts'
import { parseCommandLine } from '../formats/command-line.ts'
import { newLoopId } from '../host/loop-id.ts'
import type { Store } from '../host/store.ts'
import { given } from '../request/given.ts'
import type { LoopRequest } from '../request/request.ts'

type Board = Pick<Store, 'board'>

/** The fields of a new task; missing ones get their defaults. */
export type NewTask = BoardPatch & { title: string }

export async function createTask(
  { board }: Board,
  asked: NewTask,
  made: { by: BoardTask['created_by']; at: number; id?: string },
): Promise<BoardTask> {
  const fields: BoardFields = patchTask({ ...BOARD_DEFAULTS, title: asked.title }, asked)
  const time = new Date(made.at).toISOString()
  const task: BoardTask = {
    id: made.id ?? newLoopId(),
    ...fields,
    loop_id: null,
    created_by: made.by,
    created_at: time,
    updated_at: time,
    version: 1,
  }
  await mustMakeSense({ board }, task, asked)
  if (task.depends_on.length > 0) mustNotWaitForItself(task, await allTasks({ board }))
  await board.create(task)
  return (await board.load(task.id)) ?? task
}

/**
 * Rejects impossible values now, not when the task starts. Validates only what is `asked` for; dependencies are
 * validated when they are stored.
 */
export async function mustMakeSense({ board }: Board, task: BoardTask, asked: BoardPatch): Promise<void> {
  const trouble = fieldTrouble(asked)
  if (trouble) throw new RalphError('input-invalid', `The ${trouble.field} of a task ${trouble.words}.`, trouble)
  if (asked.agent && task.agent.trim() !== 'auto') parseAgents(task.agent)
  for (const check of asked.checks ?? []) mustBeCommand(check, 'checks')
  for (const { check } of asked.stages ?? []) if (check) mustBeCommand(check, 'stages')
  if (asked.project_id) await mustBeGroup({ board }, asked.project_id)
}

function mustBeCommand(check: string, field: 'checks' | 'stages'): void {
  try {
    if (check !== 'auto') parseCommandLine(check)
  } catch (cause) {
    throw new RalphError('input-invalid', (cause as RalphError).message, { field, cause })
  }
}

async function mustBeGroup({ board }: Board, id: string): Promise<void> {
  const known = (await board.groups()).map(({ project_id }) => project_id)
  if (known.includes(id)) return
  const there = known.length > 0 ? `Known: ${known.join(', ')}.` : 'None exist yet.'
  throw new RalphError('input-invalid', `Unknown project_id: "${id}". ${there} Create it first, or leave it out.`, {
    field: 'project_id',
  })
}

/** Its dependencies must exist and must not wait for it, even indirectly. */
export function mustNotWaitForItself(task: BoardTask, all: readonly BoardTask[]): void {
  const others = all.filter(({ id }) => id !== task.id)
  const missing = task.depends_on.find((id) => id !== task.id && !others.some((other) => other.id === id))
  if (missing !== undefined)
    throw new RalphError('input-invalid', `No such task to depend on: "${missing}".`, {
      field: 'depends_on',
    })
  const known = new Set([task.id, ...others.map(({ id }) => id)])
  const problem = graphProblem(
    [task, ...others].map(({ id, depends_on }) => ({
      id,
      dependsOn: depends_on.filter((one) => known.has(one)),
      status: 'open' as const,
    })),
  )
  if (problem !== undefined) throw new RalphError('input-invalid', `depends_on: ${problem}`, { field: 'depends_on' })
}

async function allTasks({ board }: Board): Promise<BoardTask[]> {
  const tasks: BoardTask[] = []
  for (let after: string | undefined; ; ) {
    const page = await board.list(given({ after }))
    tasks.push(...page.tasks)
    if (page.next === undefined) return tasks
    after = page.next
  }
}

/** The task, or an error if it does not exist. */
export async function mustFind({ board }: Board, id: string): Promise<BoardTask> {
  const task = await board.load(id)
  if (task) return task
  throw new RalphError('task-unknown', `No such task on the board: "${id}".`)
}

/** A task that open tasks wait for cannot be deleted. */
export function mustNotBeWaitedFor({ id, status }: BoardTask, all: readonly BoardTask[]): void {
  if (status === 'done') return
  const isOpen = (task: BoardTask) => task.status !== 'done' && task.status !== 'cancelled'
  const waiting = all.flatMap((task) => (task.depends_on.includes(id) && isOpen(task) ? [task.id] : []))
  if (waiting.length > 0)
    throw new RalphError(
      'task-state',
      `Task ${id} cannot be deleted: ${waiting.join(', ')} ${waiting.length === 1 ? 'depends' : 'depend'} on it. Remove that dependency first.`,
    )
}

/** The tasks that it waits for. A deleted one no longer counts. */
export async function waitsFor({ board }: Board, { depends_on }: Pick<BoardTask, 'depends_on'>): Promise<string[]> {
  const found = await Promise.all(depends_on.map((id) => board.load(id)))
  return found.flatMap((task) => (task && task.status !== 'done' ? [task.id] : []))
}

/** Turns a task into a request for a loop. A plain task is a single turn with its own words. */
export function requestOf(task: BoardTask): Omit<LoopRequest, 'agents'> {
  const { minutes, cost_usd: costUsd, tokens, no_progress: noProgress, same_error: sameError, adaptive } = task.limits
  const most = task.ralph_max_iterations
  const iterations = adaptive && most > 0 ? { ceiling: most } : most
  return {
    prompt: promptOf(task),
    promise: task.ralph_completion_promise,
    ...(task.stages.length > 0 && task.use_ralph_wiggum ? { stages: task.stages } : {}),
    ...(task.checks.length > 0 ? { checks: task.checks } : {}),
    ...(task.type === null ? {} : { type: task.type }),
    ...(task.use_ralph_wiggum ? {} : { once: true }),
    limits: given({
      minutes,
      costUsd,
      tokens,
      noProgress,
      sameError,
      iterations: task.use_ralph_wiggum ? iterations : 1,
    }),
  }
}
