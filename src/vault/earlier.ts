/** The earlier task of a file in Needs_Action, if any: while it counts, the file is not new. */
import { ended, type Loop } from '../engine/loop.ts'
import type { VaultStatus } from '../formats/task-state.ts'
import type { VaultDesk } from './desk.ts'
import type { Arrival } from './inbox.ts'
import { isFinal, statusOfTask } from './lifecycle.ts'
import { readState } from './state-file.ts'
import { vaultOf } from './vault-task.ts'

/** `busy`: it is in progress. `over`: it has ended, and no new file has arrived. Without a loop, only its state file says so. */
export type Earlier = { kind: 'busy' | 'over'; status: VaultStatus; loop?: Loop }

export async function earlierTask(
  desk: VaultDesk,
  { id, file, arrivedAt }: Pick<Arrival, 'id' | 'file' | 'arrivedAt'>,
): Promise<Earlier | undefined> {
  const row = await desk.store.tasks.load(desk.vault, id)
  if (!row) return earlierElsewhere(desk, id, arrivedAt)
  const loop = await desk.store.load(row.loop)
  const status = statusOfTask(loop, row.record)
  // A task that nobody has cleaned up yet is not over either.
  if (!ended(loop) || row.record.files === undefined) return { kind: 'busy', status, loop }
  return arrivedAt > row.movedAt || vaultOf(loop).file !== file ? undefined : { kind: 'over', status, loop }
}

function earlierElsewhere(desk: VaultDesk, id: string, arrivedAt: number): Earlier | undefined {
  const state = readState(desk, id)
  if (state === undefined || state === 'damaged') return undefined
  const { status, last_updated } = state
  if (!isFinal(status)) return { kind: 'busy', status }
  // Its times have no fractions of a second.
  return arrivedAt > Date.parse(last_updated) + 999 ? undefined : { kind: 'over', status }
}

/** The ended task that a renamed file belonged to: renaming a file again and again gives no new limits. */
export async function formerTask(
  { store, vault }: VaultDesk,
  { id, inode, bornAt, arrivedAt }: Pick<Arrival, 'id' | 'inode' | 'bornAt' | 'arrivedAt'>,
): Promise<string | undefined> {
  const tasks = await store.tasks.list(vault)
  const formers = tasks.filter((row) => row.id !== id && row.record.inode === inode && row.record.bornAt === bornAt)
  const last = formers.find(({ movedAt }) => arrivedAt <= movedAt)
  return last && formers.length > 1 && ended(await store.load(last.loop)) ? last.id : undefined
}
