import { expect, test } from 'vitest'
import { RalphError } from '../error.ts'
import * as library from '../index.ts'
import {
  MaxIterationsError,
  StateCorruptedError,
  StateFileError,
  TASK_ERRORS,
  type TaskErrorType,
  TaskNotFoundError,
  TimeoutError,
} from './errors.ts'

const ERRORS: Record<TaskErrorType, { error: RalphError; message: string; recoverable: boolean; action: string }> = {
  TaskNotFoundError: {
    error: new TaskNotFoundError('a', 'Task not found: a.'),
    message: 'Task not found: a.',
    recoverable: false,
    action: 'abort_task',
  },
  MaxIterationsError: {
    error: new MaxIterationsError('a', 10),
    message: 'Task reached maximum 10 iterations',
    recoverable: false,
    action: 'manual_review',
  },
  TimeoutError: {
    error: new TimeoutError('a', 30),
    message: 'Task exceeded 30 minute timeout',
    recoverable: false,
    action: 'notify_user',
  },
  StateCorruptedError: {
    error: new StateCorruptedError('a', 'It is damaged.'),
    message: 'It is damaged.',
    recoverable: true,
    action: 'recreate_state',
  },
  StateFileError: {
    error: new StateFileError('a', 'It cannot be read.'),
    message: 'It cannot be read.',
    recoverable: true,
    action: 'check_permissions',
  },
}

test.each(Object.entries(ERRORS))(
  '%s prints as the response callers know',
  (type, { error, message, recoverable, action }) => {
    expect(error).toBeInstanceOf(RalphError)
    expect(error).toBeInstanceOf(Error)
    expect([error.name, error.message]).toEqual([type, message])
    expect(JSON.stringify(error)).toBe(
      JSON.stringify({ error: { type, message, task_id: 'a', recoverable, action_required: action } }),
    )
    expect(String(error)).toBe(`${type}: ${message}`)
  },
)

test.each(Object.entries(TASK_ERRORS))('the table is right about %s', (type, { code, recoverable, action, when }) => {
  const { error } = ERRORS[type as TaskErrorType] // whose names are the table's
  expect(error).toMatchObject({ code, recoverable, actionRequired: action, taskId: 'a' })
  expect(when).toMatch(/\w/)
})

test.each(Object.keys(TASK_ERRORS))('%s is a name of the library', (name) => {
  expect(library).toHaveProperty(name)
})

test('keeps what caused it', () => {
  const cause = new Error('EACCES')
  expect(new StateFileError('a', 'x', { cause }).cause).toBe(cause)
})
