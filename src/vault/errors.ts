/** The named errors of the task API. Each serializes to the response that callers expect. */
import { type ErrorCode, RalphError } from '../error.ts'

export type TaskErrorType =
  | 'TaskNotFoundError'
  | 'MaxIterationsError'
  | 'TimeoutError'
  | 'StateCorruptedError'
  | 'StateFileError'

/** What a caller can do about each. Doing so resolves a recoverable one. */
export const TASK_ERRORS: Readonly<
  Record<TaskErrorType, { code: ErrorCode; recoverable: boolean; action: string; when: string }>
> = {
  TaskNotFoundError: {
    code: 'task-unknown',
    recoverable: false,
    action: 'abort_task',
    when: 'there is no such task, or no such task file',
  },
  MaxIterationsError: {
    code: 'task-limit',
    recoverable: false,
    action: 'manual_review',
    when: 'an iteration is counted beyond the maximum',
  },
  TimeoutError: {
    code: 'task-timeout',
    recoverable: false,
    action: 'notify_user',
    when: 'an iteration is counted after the task has timed out',
  },
  StateCorruptedError: {
    code: 'state-corrupted',
    recoverable: true,
    action: 'recreate_state',
    when: 'the state file is damaged and the task is not in the database; otherwise the file is set aside and rebuilt',
  },
  StateFileError: {
    code: 'state-file',
    recoverable: true,
    action: 'check_permissions',
    when: 'the state file cannot be read or written: no task is started, no iteration counted, no progress recorded',
  },
}

export abstract class TaskError extends RalphError {
  readonly taskId: string
  readonly recoverable: boolean
  readonly actionRequired: string

  constructor(type: TaskErrorType, taskId: string, message: string, options?: ErrorOptions) {
    const { code, recoverable, action } = TASK_ERRORS[type]
    super(code, message, options)
    this.name = type
    this.taskId = taskId
    this.recoverable = recoverable
    this.actionRequired = action
  }

  toJSON(): TaskErrorResponse {
    const { name, message, taskId, recoverable, actionRequired } = this
    return { error: { type: name, message, task_id: taskId, recoverable, action_required: actionRequired } }
  }
}

export type TaskErrorResponse = {
  error: { type: string; message: string; task_id: string; recoverable: boolean; action_required: string }
}

export class TaskNotFoundError extends TaskError {
  constructor(taskId: string, message: string, options?: ErrorOptions) {
    super('TaskNotFoundError', taskId, message, options)
  }
}

export class MaxIterationsError extends TaskError {
  constructor(taskId: string, most: number) {
    super('MaxIterationsError', taskId, `Task reached maximum ${most} iterations`)
  }
}

export class TimeoutError extends TaskError {
  constructor(taskId: string, minutes: number) {
    super('TimeoutError', taskId, `Task exceeded ${minutes} minute timeout`)
  }
}

export class StateCorruptedError extends TaskError {
  constructor(taskId: string, message: string, options?: ErrorOptions) {
    super('StateCorruptedError', taskId, message, options)
  }
}

export class StateFileError extends TaskError {
  constructor(taskId: string, message: string, options?: ErrorOptions) {
    super('StateFileError', taskId, message, options)
  }
}
