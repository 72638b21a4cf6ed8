/** A project as a whole: which of its tasks are worked on next, or why none is any more. */
import { criticalPath, type GraphTask, readyTasks, whyStuck } from './graph.ts'
import { noIterations, type Stop } from './limits.ts'
import type { HaltReason } from './loop.ts'

export type PlannedTask = GraphTask & { attempts: number; maxAttempts: number }

export type Going = {
  /** Tasks that somebody works on now. */
  working: ReadonlySet<string>
  /** Tasks that somebody has begun before: they are taken up first, and the attempt they are at is theirs. */
  begun: ReadonlySet<string>
  /** Tasks that wait for an answer, and what they ask. */
  asking: ReadonlyMap<string, string>
  /** How many may be worked on at the same time. */
  slots: number
  /** Turns that may be taken, and how many are left. Absent: there is no limit. */
  turns?: { most: number; left: number }
  /** Why a loop stopped short: nothing new is begun, and what is under way comes to its end. */
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

/** Whether a task whose work was not enough may be worked on once more. */
export function mayTryAgain({ attempts, maxAttempts }: Pick<PlannedTask, 'attempts' | 'maxAttempts'>): boolean {
  return attempts < maxAttempts
}

/** Why the project stops when the loop of a task has halted; undefined where only that task has used up its attempts. */
export function stopOf(task: PlannedTask, { reason, sentence }: Stop): ProjectStop | undefined {
  if (reason === 'max-iterations' && !mayTryAgain(task)) return undefined
  return { reason, sentence: `${task.id}: ${sentence}` }
}

/** How often a task is merged again when the branch moves meanwhile. */
export const MERGE_TRIES = 10

/** Turns an agent has to bring the two sides of a merge together. */
export const MERGE_TURNS = 3

// The agent had its turns, and it was too hard for it. All else would have stopped any task.
const UNABLE: ReadonlySet<HaltReason> = new Set(['max-iterations', 'no-progress', 'same-error', 'test-only'])

/** Why a project stops when nobody could bring two sides together. */
export function mergeReason(reason: HaltReason): HaltReason {
  return UNABLE.has(reason) ? 'conflict' : reason
}

/** Turns that the open tasks may still take. */
export function attemptsLeft(tasks: readonly PlannedTask[]): number {
  return tasks
    .filter(({ status }) => status === 'open')
    .reduce((sum, { attempts, maxAttempts }) => sum + Math.max(0, maxAttempts - attempts), 0)
}
