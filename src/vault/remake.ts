/** Rebuilds what is known about tasks besides their loops from the vault, after the database was lost. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ended, type Loop } from '../engine/loop.ts'
import { parseTaskState, type TaskState } from '../formats/task-state.ts'
import type { Store, TaskRecord } from '../host/store.ts'
import { findVaultTask, type VaultTask } from './vault-task.ts'
import { isPlainFile } from './where.ts'

/** Loops come oldest first, so that a task ends up with its newest one. */
export async function remakeTask(store: Store, loop: Loop): Promise<void> {
  const task = findVaultTask(loop.spec.work)
  if (!task) return
  const key = { vault: task.path, id: task.id }
  const earlier = await store.tasks.load(key.vault, key.id)
  if (earlier) await store.tasks.forget(earlier)
  // What it changed is no longer known; it was cleaned up long ago.
  await store.tasks.begin(key, loop, { ...recordOf(loop, task), ...(ended(loop) ? { files: null } : {}) })
}

/** Only the state file knows the progress, if it belongs to this loop. */
function recordOf({ tally }: Loop, { path, state, id }: VaultTask): TaskRecord {
  const found = readState(join(path, state, `${id}.json`))
  if (!found || found.task_id !== id || Date.parse(found.started_at) !== Math.floor(tally.startedAt / 1_000) * 1_000)
    return {}
  const { steps_total: total, steps_completed: completed, current_step: step } = found.progress
  return total > 0 || step ? { progress: { total, completed, step, at: Date.parse(found.last_updated) } } : {}
}

function readState(path: string): TaskState | undefined {
  try {
    return isPlainFile(path) ? parseTaskState(readFileSync(path, 'utf8')) : undefined
  } catch {
    return undefined // not readable, so it says nothing
  }
}
