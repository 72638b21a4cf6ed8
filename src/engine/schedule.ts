/** A project as a whole: which tasks to work on next, or why there are none left. */
import { criticalPath, type GraphTask, readyTasks, whyStuck } from './graph.ts'
import { noIterations, type Stop } from './limits.ts'
import type { HaltReason } from './loop.ts'

export type PlannedTask = GraphTask & { attempts: number; maxAttempts: number }

export type Going = {
  /** Tasks in progress. */
  working: ReadonlySet<string>
  /** Tasks started earlier: they come first and keep their current attempt. */
  begun: ReadonlySet<string>
  /** Tasks waiting for an answer, and their questions. */
  asking: ReadonlyMap<string, string>
  /** How many tasks may run at the same time. */
  slots: number
  /** How many turns are allowed, and how many are left. Absent: no limit. */
  turns?: { most: number; left: number }
  /** Why a loop stopped short: nothing new starts, and running tasks finish. */
  halted?: ProjectStop
}

export type ProjectStop = {
  reason: 'completed' | 'blocked' | 'needs-input' | 'paused' | 'git-failed' | 'setup-failed' | HaltReason
  sentence: string
}

export type Plan = { kind: 'start'; ids: string[] } | { kind: 'wait' } | ({ kind: 'stop' } & ProjectStop)

/** First match wins, so the order below is the policy. */
export function plan(tasks: readonly PlannedTask[], going: Going): Plan {
  const { working, begun, asking, slots, turns, halted } = going
  if (tasks.every(({ status }) => status === 'completed'))
    return stop({
      reason: 'completed',
      sentence: `${tasks.length === 1 ? 'The task is' : `All ${tasks.length} tasks are`} completed.`,
    })
  const over = halted ?? usedUp(tasks, (id) => working.has(id) || begun.has(id)) ?? noTurns(turns)
  if (over) return working.size > 0 ? { kind: 'wait' } : stop(over)

  const longest = criticalPath(tasks)
  const ready = readyTasks(tasks)
    .filter(({ id }) => !working.has(id) && !asking.has(id))
    .sort(
      (a, b) =>
        Number(begun.has(b.id)) - Number(begun.has(a.id)) || (longest.get(b.id) ?? 0) - (longest.get(a.id) ?? 0),
    )
  const free = Math.min(slots - working.size, turns?.left ?? Number.POSITIVE_INFINITY)
  if (ready.length > 0 && free > 0) return { kind: 'start', ids: ready.slice(0, free).map(({ id }) => id) }
  if (working.size > 0) return { kind: 'wait' }
  const [asked] = asking
  if (asked) return stop({ reason: 'needs-input', sentence: `${asked[0]} needs an answer: ${asked[1]}` })
  return stop({ reason: 'blocked', sentence: `No task can continue: ${whyStuck(tasks).join('; ')}.` })
}

function stop(reason: ProjectStop): Plan {
  return { kind: 'stop', ...reason }
}

function usedUp(tasks: readonly PlannedTask[], isUnderWay: (id: string) => boolean): ProjectStop | undefined {
  const task = tasks.find(
    ({ id, status, attempts, maxAttempts }) => status === 'open' && attempts >= maxAttempts && !isUnderWay(id),
  )
  return (
    task && {
      reason: 'max-attempts',
      sentence: `${task.id} has used ${task.maxAttempts === 1 ? 'its only attempt' : `all ${task.maxAttempts} attempts`} and is not completed.`,
    }
  )
}

function noTurns(turns: Going['turns']): ProjectStop | undefined {
  if (turns === undefined || turns.most === 0 || turns.left > 0) return undefined
  return {
    reason: 'max-iterations',
    sentence: noIterations(turns.most),
  }
}

/** Whether a task whose work was not enough may be tried again. */
export function mayTryAgain({ attempts, maxAttempts }: Pick<PlannedTask, 'attempts' | 'maxAttempts'>): boolean {
  return attempts < maxAttempts
}

/** Why the project stops when the loop of a task has halted; undefined if only that task has used up its attempts. */
export function stopOf(task: PlannedTask, { reason, sentence }: Stop): ProjectStop | undefined {
  if (reason === 'max-iterations' && !mayTryAgain(task)) return undefined
  return { reason, sentence: `${task.id}: ${sentence}` }
}

/** How often a merge is retried when the branch moves in the meantime. */
export const MERGE_TRIES = 10

/** Turns an agent has to resolve a merge conflict. */
export const MERGE_TURNS = 3

// The agent used its turns, and it was too hard. Anything else would have stopped any task.
const UNABLE: ReadonlySet<HaltReason> = new Set(['max-iterations', 'no-progress', 'same-error', 'test-only'])

/** Why a project stops when a conflict could not be resolved. */
export function mergeReason(reason: HaltReason): HaltReason {
  return UNABLE.has(reason) ? 'conflict' : reason
}

/** Turns that the open tasks may still take. */
export function attemptsLeft(tasks: readonly PlannedTask[]): number {
  return tasks
    .filter(({ status }) => status === 'open')
    .reduce((sum, { attempts, maxAttempts }) => sum + Math.max(0, maxAttempts - attempts), 0)
}
