/** A task of the board: its fields, with the names that programs see, and its prompt. */
import type { Stage } from '../engine/loop.ts'
import { wrapPrompt } from './wrapped-prompt.ts'

export const BOARD_STATUSES = ['todo', 'in-progress', 'in-review', 'done', 'cancelled'] as const
export type BoardStatus = (typeof BOARD_STATUSES)[number]

/** What a person or a program decides about a task. */
export type BoardFields = {
  /** The group it belongs to. */
  project_id: string | null
  title: string
  description: string | null
  /** The kind of work, as free text: feature, bug, docs. */
  type: string | null
  labels: string[]
  status: BoardStatus
  archived: boolean
  /** False: the plain prompt, one iteration. */
  use_ralph_wiggum: boolean
  /** 0: no limit. */
  ralph_max_iterations: number
  ralph_completion_promise: string
  stages: Stage[]
  checks: string[]
  limits: BoardLimits
  /** Agent names, comma-separated; `auto` finds one. */
  agent: string
  /** Tasks that must be done before this one starts. */
  depends_on: string[]
  /** The highest starts first. */
  priority: number
  /** The folder to work in. Null: its group's folder, or the folder it is started from. */
  repo: string | null
  /** Works in its own linked worktree; the work waits to be accepted. */
  worktree: boolean
}

export type BoardLimits = {
  minutes?: number
  cost_usd?: number
  tokens?: number
  no_progress?: number
  same_error?: number
  /** The iteration limit is estimated from the task and may grow up to `ralph_max_iterations`. */
  adaptive?: boolean
}

export type BoardTask = BoardFields & {
  id: string
  /** The newest loop that works on it. */
  loop_id: string | null
  created_by: 'person' | 'program' | 'agent' | 'import'
  created_at: string
  updated_at: string
  /** Increases with every change. */
  version: number
}

/** `repo`: the folder its tasks work in. */
export type BoardGroup = { project_id: string; name: string; repo: string | null }

export const BOARD_DEFAULTS: Omit<BoardFields, 'title'> = {
  project_id: null,
  description: null,
  type: null,
  labels: [],
  status: 'todo',
  archived: false,
  use_ralph_wiggum: true,
  ralph_max_iterations: 10,
  ralph_completion_promise: 'COMPLETE',
  stages: [],
  checks: [],
  limits: {},
  agent: 'auto',
  depends_on: [],
  priority: 0,
  repo: null,
  worktree: false,
}

/** A change sets values; null restores the default, and absent fields stay as they are. */
export type BoardPatch = { [Field in keyof BoardFields]?: BoardFields[Field] | null }

export function patchTask<Task extends Partial<BoardFields>>(task: Task, patch: BoardPatch): Task {
  const set = Object.entries(patch).filter(([, value]) => value !== undefined)
  const values = set.map(([field, value]) => [field, value ?? BOARD_DEFAULTS[field as keyof typeof BOARD_DEFAULTS]])
  return { ...task, ...Object.fromEntries(values) }
}

type Described = Pick<BoardFields, 'title' | 'description'>

/** The task as its author wrote it. */
export function promptOf({ title, description }: Described): string {
  return description?.trim() ? `${title}\n\n${description}` : title
}

type Wrapped = Described & Pick<BoardFields, 'use_ralph_wiggum' | 'ralph_max_iterations' | 'ralph_completion_promise'>

/** Wrapped for a task that loops, plain for one that does not. */
export function toPrompt(task: Wrapped): string {
  const prompt = promptOf(task)
  if (!task.use_ralph_wiggum) return prompt
  return wrapPrompt(prompt, { maxIterations: task.ralph_max_iterations, promise: task.ralph_completion_promise })
}
