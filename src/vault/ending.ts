/** After work on a task has stopped: updates the vault's files, and moves what failed to Failed. */
import { ended, type Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import type { VaultStatus } from '../formats/task-state.ts'
import { isRejected, moveToFailed } from './approval.ts'
import type { VaultDesk } from './desk.ts'
import { statusOfTask } from './lifecycle.ts'
import type { Move } from './moving.ts'
import { endMissing, type Left, noteTrouble, publish } from './tasks.ts'
import { vaultOf } from './vault-task.ts'
import { findFile } from './where.ts'
import type { Site } from './work.ts'

/** After the work, with the loop released: updates the vault's files, and moves what failed to Failed. */
export async function finishTask({ desk, tell }: Site, id: string): Promise<VaultStatus | undefined> {
  const row = await desk.store.tasks.load(desk.vault, id)
  if (!row) return undefined
  const { loop, place, left } = await seeTo(desk, id)
  const status = statusOfTask(loop, row.record)
  if (status === 'waiting_approval') tell({ kind: 'waiting', loop })
  if (ended(loop) && left === 'nothing') {
    desk.histories.delete(loop.id)
    if (vaultOf(loop).by === 'watch') tell({ kind: 'ended', loop, status, place })
  }
  return status
}

/** First moves the file of a failed or rejected task; until that succeeds, the task does not count as cleaned up. */
export async function seeTo(
  desk: VaultDesk,
  id: string,
  move?: Move,
): Promise<{ loop: Loop; place: string | undefined; left: Left }> {
  const loop = await endMissing(desk, id, move)
  const isOurs = ended(loop) && (vaultOf(loop).by === 'watch' || isRejected(loop))
  const { place, left } = isOurs ? await placeAfter(desk, loop) : { place: undefined, left: 'nothing' as const }
  await noteTrouble(desk, () => publish(desk, id, left))
  return { loop, place, left }
}

/** Where the file of an ended task is; a failed one is moved, once. */
async function placeAfter(
  { store, now, note }: VaultDesk,
  loop: Loop,
): Promise<{ place: string | undefined; left: Left }> {
  const task = vaultOf(loop)
  try {
    if (loop.next.kind === 'complete') return { place: findFile(task), left: 'nothing' }
    const row = await store.tasks.load(task.path, task.id)
    const isNewest = row?.loop === loop.id
    if (isNewest && row.record.away !== undefined) return { place: row.record.away ?? undefined, left: 'nothing' }
    const place = moveToFailed(task, loop, now())
    if (isNewest) await store.tasks.change(row, { away: place ?? null })
    return { place, left: 'nothing' }
  } catch (cause) {
    if (!(cause instanceof RalphError)) throw cause
    note(cause.message)
    return { place: findFile(task), left: 'file' }
  }
}
