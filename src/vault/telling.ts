/** A task in the terms of the API: its state, progress and iterations. */
import { oneLine } from '../engine/breaker.ts'
import { deadline } from '../engine/limits.ts'
import type { Loop, Tally, Turn } from '../engine/loop.ts'
import { hasWorked } from '../engine/tally.ts'
import type { HistoryEntry, TaskProgress, TaskState, VaultStatus } from '../formats/task-state.ts'
import type { TaskRecord, TaskRow } from '../host/store.ts'
import type { Entry, History, VaultDesk } from './desk.ts'
import { statusOfTask } from './lifecycle.ts'
import { vaultOf } from './vault-task.ts'

/** The state of a task, in the terms of the API. */
export function stateOf(
  loop: Loop,
  { record, movedAt }: Pick<TaskRow, 'record' | 'movedAt'>,
  history: HistoryEntry[],
): TaskState {
  const { path, from, id } = vaultOf(loop)
  const { tally, spec } = loop
  const status = statusOfTask(loop, record)
  return {
    task_id: id,
    task_file: `${path}/${from}`,
    status,
    iteration: iterationOf(loop, status),
    max_iterations: spec.limits.iterations,
    started_at: time(tally.startedAt),
    last_updated: time(Math.max(movedAt, record.progress?.at ?? 0)),
    timeout_at: time(deadline(spec.limits.minutes ?? 0, tally)),
    progress: progressOf(record),
    iterations_history: history,
  }
}

/** The current one, as in the contract's example, or the last. While its checks run, it is still current. */
function iterationOf({ tally, next, spec }: Loop, status: VaultStatus): number {
  const isToCome = status === 'in_progress' && (next.kind === 'turn' || next.kind === 'wait')
  return isToCome ? Math.min(tally.iteration + 1, spec.limits.iterations) : tally.iteration
}

export function progressOf({ progress }: TaskRecord): TaskProgress {
  const { total, completed, step: current_step } = progress ?? { total: 0, completed: 0, step: '' }
  const percentage = total === 0 ? 0 : Math.round((completed / total) * 1_000) / 10
  return { steps_total: total, steps_completed: completed, current_step, percentage }
}

/** Exactly what users of the API look for. */
export function timeoutMessage({ spec }: Loop): string {
  return `Task exceeded ${spec.limits.minutes} minute timeout. Progress saved.`
}

export function limitMessage({ spec }: Loop): string {
  return `Task reached maximum ${spec.limits.iterations} iterations. Manual intervention required.`
}

/** Seconds are enough. */
export function time(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`
}

/** The iterations of a task, cached. */
export async function historyOf(desk: VaultDesk, loop: Loop): Promise<HistoryEntry[]> {
  const { entries } = await readOn(desk, loop)
  const first = loop.tally.iteration - entries.length + 1
  return entries.map((entry, index) => ({ iteration: first + index, ...entry }))
}

/** How often its agents called their model; null if one of them did not report it. */
export async function callsOf(desk: VaultDesk, loop: Loop): Promise<number | null> {
  const { calls, entries } = await readOn(desk, loop)
  return entries.length === 0 ? null : calls
}

async function readOn({ store, histories }: VaultDesk, { id, tally }: Loop): Promise<History> {
  const history = histories.get(id) ?? { seq: 0, at: tally.startedAt, entries: [], calls: 0 }
  histories.set(id, history)
  for (const { fact, at, seq } of await store.events(history.seq, id)) {
    if (seq <= history.seq) continue // another call has read it meanwhile
    if (fact.kind === 'turned') {
      const { calls } = fact.turn
      history.calls = calls === undefined || history.calls === null ? null : history.calls + calls
      if (hasWorked(fact.turn)) history.entries.push(entryOf(fact.turn, { at, since: history.at, tally }))
    }
    Object.assign(history, { seq, at })
  }
  return history
}

function entryOf(turn: Turn, { at, since, tally }: { at: number; since: number; tally: Tally }): Entry {
  const seen = { action: oneLine(turn.words), result: resultOf(turn), seconds: Math.max(0, at - since) / 1_000 }
  const { action, result, seconds, iteration }: NonNullable<Turn['told']> = turn.told ?? seen
  const timestamp = time(Math.max(tally.startedAt, at - seconds * 1_000))
  return { ...(iteration === undefined ? {} : { iteration }), timestamp, action, result, duration_seconds: seconds }
}

function resultOf({ end }: Turn): string {
  return end === 'ok' ? 'success' : 'context_full'
}
