/** The life of a vault's task: a loop in the task API's terms, and which call is allowed when. */
import type { Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import type { VaultStatus } from '../formats/task-state.ts'
import type { TaskRecord } from '../host/store.ts'
import { MaxIterationsError, TimeoutError } from './errors.ts'

/** A call may take several of these steps: a task that is done at once was in progress for a moment. */
export const TRANSITIONS: Readonly<Record<VaultStatus, readonly VaultStatus[]>> = {
  initializing: ['in_progress'],
  in_progress: ['completed', 'waiting_approval', 'failed', 'timeout', 'max_iterations_reached'],
  waiting_approval: ['in_progress'],
  completed: [],
  failed: [],
  timeout: [],
  max_iterations_reached: [],
}

/** Whether nothing comes after it. */
export function isFinal(status: VaultStatus): boolean {
  return TRANSITIONS[status].length === 0
}

export function statusOfTask({ tally, next }: Loop, { progress, begun }: TaskRecord): VaultStatus {
  switch (next.kind) {
    case 'complete':
      return 'completed'
    case 'halt':
      if (next.reason === 'timeout') return 'timeout'
      return next.reason === 'max-iterations' ? 'max_iterations_reached' : 'failed'
    case 'wait':
      if (next.why === 'person') return 'waiting_approval'
      break
    case 'turn':
    case 'check':
    case 'prove':
    case 'restore':
      break
  }
  return tally.iteration > 0 || progress || begun ? 'in_progress' : 'initializing'
}

export type Call =
  | 'checkTaskComplete'
  | 'getTaskState'
  | 'updateProgress'
  | 'incrementIteration'
  | 'completeTask'
  | 'handleTimeout'
  | 'handleMaxIterations'
  | 'approveTask'
  | 'rejectTask'

/** The status that a call leads to, and those from which it is allowed. */
export const CALLS: Readonly<Record<Call, { to: VaultStatus | 'same'; from: readonly VaultStatus[] }>> = {
  checkTaskComplete: { to: 'same', from: all() },
  getTaskState: { to: 'same', from: all() },
  updateProgress: { to: 'same', from: all() },
  incrementIteration: { to: 'in_progress', from: ['initializing', 'in_progress'] },
  completeTask: { to: 'completed', from: ['initializing', 'in_progress', 'waiting_approval', 'completed'] },
  handleTimeout: { to: 'timeout', from: ['initializing', 'in_progress', 'timeout'] },
  handleMaxIterations: { to: 'max_iterations_reached', from: ['max_iterations_reached'] },
  approveTask: { to: 'in_progress', from: ['waiting_approval'] },
  rejectTask: { to: 'failed', from: ['waiting_approval'] },
}

function all(): VaultStatus[] {
  return Object.keys(TRANSITIONS) as VaultStatus[] // which are its keys by its type
}

/** `waits`: what to do if plain approval is not an answer. */
export type Limited = { id: string; maxIterations: number; timeoutMinutes: number; waits?: string }

/** Throws for a call that is not allowed in this state. */
export function mustAllow(
  call: Call,
  status: VaultStatus,
  { id, maxIterations, timeoutMinutes, waits }: Limited,
): void {
  const { to, from } = CALLS[call]
  if (from.includes(status)) return
  if (call === 'incrementIteration' && status === 'max_iterations_reached')
    throw new MaxIterationsError(id, maxIterations)
  if (call === 'incrementIteration' && status === 'timeout') throw new TimeoutError(id, timeoutMinutes)
  const advice = status === 'waiting_approval' && waits !== undefined ? waits : ADVICE[status]
  throw illegal(id, status, to === 'same' ? status : to, advice)
}

/** The error for an invalid transition. */
export function illegal(id: string, from: VaultStatus, to: VaultStatus, advice: string): RalphError {
  return new RalphError('task-state', `Task ${id} is ${from} and cannot become ${to}. ${advice}`)
}

const ADVICE: Readonly<Record<VaultStatus, string>> = {
  initializing: 'Nothing has been done yet.',
  in_progress: 'It is being worked on.',
  waiting_approval: 'Approve or reject it first: `ralph task approve ID`, `ralph task reject ID`.',
  completed: 'It has ended. To run it again, move its file back and start it again.',
  failed: 'It has ended. To try it again, move its file back and start it again.',
  timeout: 'It has ended. To try it again, start it again.',
  max_iterations_reached: 'It has ended. To try it again, start it again.',
}
