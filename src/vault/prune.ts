/** Removes leftovers of tasks that ended long ago. Their loops stay in the database, their files in the vault. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { ended } from '../engine/loop.ts'
import type { Store } from '../host/store.ts'
import { isFinal } from './lifecycle.ts'
import { isPresent } from './place.ts'
import { readState, removeHookFiles } from './state-file.ts'
import { removeTaskLock } from './task-lock.ts'
import type { VaultTask } from './vault-task.ts'
import { vaultOf } from './vault-task.ts'
import { isPlainFile } from './where.ts'

/** How many tasks. Those of an unavailable vault are left for another time. */
export async function pruneTasks(store: Store, before: number): Promise<number> {
  let removed = 0
  const old = (await store.tasks.list()).filter(
    ({ movedAt, record }) => Math.max(movedAt, record.progress?.at ?? 0) < before,
  )
  for (const row of old) {
    const over = await store.load(row.loop)
    const task = vaultOf(over)
    if (!ended(over) || !isPresent(row.vault, task.done)) continue
    await store.tasks.forget(row)
    quietly(() => clearAway(task, before))
    quietly(() => removeTaskLock(task))
    removed += 1
  }
  return removed
}

function quietly(work: () => void): void {
  try {
    work()
  } catch {
    // The vault is not writable now: the leftovers do no harm.
  }
}

function clearAway(task: VaultTask, before: number): void {
  const path = join(task.path, task.state, `${task.id}.json`)
  if (!isPlainFile(path) || !isOver(task, before)) return
  rmSync(path)
  removeHookFiles(task)
}

/** Files that are not ralph's, or whose task was started again, are not touched. */
function isOver({ path, state, id }: VaultTask, before: number): boolean {
  const found = readState({ vault: path, settings: { stateDir: state } }, id)
  if (found === undefined || found === 'damaged' || found.task_id !== id) return false
  return isFinal(found.status) && Date.parse(found.last_updated) < before
}
