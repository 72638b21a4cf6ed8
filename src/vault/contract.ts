/** The inputs and outputs of the task API, name by name. */
import type { VaultStatus } from '../formats/task-state.ts'
import { asObject, type Either, readInput, type Wants } from './input.ts'

export type VaultOptions = Either<
  { vault_path: string } & Partial<{
    max_iterations: number
    timeout_minutes: number
    state_dir: string
    done_folder: string
    check_interval_seconds: number
    quiet_seconds: number
  }>
> & {
  /** RALPH_HOME, where the database is. */
  home?: string
  env?: Readonly<Record<string, string | undefined>>
  now?: () => number
  /** Receives notes for the user, such as that a damaged file was rebuilt. */
  onNote?: (text: string) => void
}

export type StartedTask = {
  task_id: string
  state_file: string
  status: VaultStatus
  started_at: string
  timeout_at: string
}

export type CountedIteration = {
  task_id: string
  iteration: number
  max_iterations: number
  status: VaultStatus
  should_continue: boolean
}

/** Null: could not be measured. */
export type TaskMetrics = {
  total_duration_seconds: number
  iterations: number
  api_calls: number | null
  files_created: number | null
  files_modified: number | null
}

export type CompletedTask = {
  task_id: string
  status: VaultStatus
  completed_at: string
  exit_reason: string
  metrics: TaskMetrics
}

export type StoppedTask = {
  task_id: string
  status: VaultStatus
  exit_reason: string
  completed_at: string
  message: string
}

type StartTask = { task_file: string; max_iterations?: number; timeout_minutes?: number }
type Iterate = { task_id: string; action: string; result: string; duration_seconds: number }
type Progress = { task_id: string; steps_total: number; steps_completed: number; current_step: string }

export type Inputs = {
  startTask: StartTask
  checkTaskComplete: { task_id: string }
  incrementIteration: Iterate
  getTaskState: { task_id: string; history_limit?: number }
  updateProgress: Progress
  completeTask: { task_id: string; exit_reason?: string }
  handleTimeout: { task_id: string }
  handleMaxIterations: { task_id: string }
  approveTask: { task_id: string; note?: string }
  rejectTask: { task_id: string; reason?: string }
}

/** The same as positional values. */
type Values = {
  startTask: [task_file: string, max_iterations?: number | undefined, timeout_minutes?: number | undefined]
  checkTaskComplete: [task_id: string]
  incrementIteration: [task_id: string, action: string, result: string, duration_seconds: number]
  getTaskState: [task_id: string, history_limit?: number | undefined]
  updateProgress: [task_id: string, steps_total: number, steps_completed: number, current_step: string]
  completeTask: [task_id: string, exit_reason?: string | undefined]
  handleTimeout: [task_id: string]
  handleMaxIterations: [task_id: string]
  approveTask: [task_id: string, note?: string | undefined]
  rejectTask: [task_id: string, reason?: string | undefined]
}

/** As callers may write it: one object, positional values, or a single string if that is enough. */
export type Input<Name extends keyof Inputs> =
  | [input: Either<Inputs[Name]> | (Name extends 'incrementIteration' | 'updateProgress' ? never : string)]
  | Values[Name]

const ID = { task_id: { kind: 'id' } } as const

const WANTS: Readonly<Record<keyof Inputs, Wants>> = {
  startTask: {
    task_file: { kind: 'id' },
    max_iterations: { kind: 'some', optional: true },
    timeout_minutes: { kind: 'minutes', optional: true },
  },
  checkTaskComplete: ID,
  incrementIteration: {
    ...ID,
    action: { kind: 'words' },
    result: { kind: 'line' },
    duration_seconds: { kind: 'amount' },
  },
  getTaskState: { ...ID, history_limit: { kind: 'count', optional: true } },
  updateProgress: {
    ...ID,
    steps_total: { kind: 'count' },
    steps_completed: { kind: 'count' },
    current_step: { kind: 'line' },
  },
  completeTask: { ...ID, exit_reason: { kind: 'line', optional: true } },
  handleTimeout: ID,
  handleMaxIterations: ID,
  approveTask: { ...ID, note: { kind: 'words', optional: true } },
  rejectTask: { ...ID, reason: { kind: 'words', optional: true } },
}

export function readCall<Name extends keyof Inputs>(name: Name, given: readonly unknown[]): Inputs[Name] {
  return readInput<Inputs[Name]>(name, asObject(name, given, WANTS[name]), WANTS[name])
}
