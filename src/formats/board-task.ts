/** A task of the board: its fields, named as programs know them, and the prompt that it stands for. */
import type { Stage } from '../engine/loop.ts'
import { wrapPrompt } from './wrapped-prompt.ts'

export const BOARD_STATUSES = ['todo', 'in-progress', 'in-review', 'done', 'cancelled'] as const
export type BoardStatus = (typeof BOARD_STATUSES)[number]

/** What a person or a program decides about a task. */
export type BoardFields = {
  /** The group that it belongs to. */
  project_id: string | null
  title: string
  description: string | null
  /** What kind of work it is, in whatever words: feature, bug, docs. */
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
  /** As people name it, several with commas; `auto` finds one. */
  agent: string
  /** Tasks that must be done before this one begins. */
  depends_on: string[]
  /** The highest begins first. */
  priority: number
  /** The folder to work in. Null: that of its group, or the one of whoever starts it. */
  repo: string | null
  /** It works in a linked worktree of its own, and its work waits to be accepted. */
  worktree: boolean
}

export type BoardLimits = {
  minutes?: number
  cost_usd?: number
  tokens?: number
  no_progress?: number
  same_error?: number
  /** The limit of iterations is guessed from the task and may grow up to `ralph_max_iterations`. */
  adaptive?: boolean
}

export type BoardTask = BoardFields & {
  id: string
  /** The newest loop that works on it. */
  loop_id: string | null
  created_by: 'person' | 'program' | 'agent' | 'import'
  created_at: string
  updated_at: string
  /** Each change makes the next one. */
  version: number
}

/** `repo`: the folder that its tasks work in. */
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

/** What a change says: a value is set, null brings the default back, and what is not named stays. */
export type BoardPatch = { [Field in keyof BoardFields]?: BoardFields[Field] | null }

export function patchTask<Task extends Partial<BoardFields>>(task: Task, patch: BoardPatch): Task {
  const set = Object.entries(patch).filter(([, value]) => value !== undefined)
  const values = set.map(([field, value]) => [field, value ?? BOARD_DEFAULTS[field as keyof typeof BOARD_DEFAULTS]])
  return { ...task, ...Object.fromEntries(values) }
}

type Described = Pick<BoardFields, 'title' | 'description'>

/** What is to be done, in the words of whoever wrote it down. */
export function promptOf({ title, description }: Described): string {
  return description?.trim() ? `${title}\n\n${description}` : title
}

type Wrapped = Described & Pick<BoardFields, 'use_ralph_wiggum' | 'ralph_max_iterations' | 'ralph_completion_promise'>

/** The wrapped text of a task that loops; the plain one of a task that does not. */
export function toPrompt(task: Wrapped): string {
  const prompt = promptOf(task)
  if (!task.use_ralph_wiggum) return prompt
  return wrapPrompt(prompt, { maxIterations: task.ralph_max_iterations, promise: task.ralph_completion_promise })
}
