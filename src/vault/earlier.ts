/** The task that a file in Needs_Action had before, if any: while it counts, the file is no new one. */
import { ended, type Loop } from '../engine/loop.ts'
import type { VaultStatus } from '../formats/task-state.ts'
import type { VaultDesk } from './desk.ts'
import type { Arrival } from './inbox.ts'
import { isFinal, statusOfTask } from './lifecycle.ts'
import { readState } from './state-file.ts'
import { vaultOf } from './vault-task.ts'

/** `busy`: it is under way. `over`: it is, and no file has come since. Without a loop its state file alone tells so. */
export type Earlier = { kind: 'busy' | 'over'; status: VaultStatus; loop?: Loop }

export async function earlierTask(
  desk: VaultDesk,
  { id, file, arrivedAt }: Pick<Arrival, 'id' | 'file' | 'arrivedAt'>,
): Promise<Earlier | undefined> {
  const row = await desk.store.tasks.load(desk.vault, id)
  if (!row) return earlierElsewhere(desk, id, arrivedAt)
  const loop = await desk.store.load(row.loop)
  const status = statusOfTask(loop, row.record)
  // One whose end nobody has seen to yet is not over either.
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

/** The task whose file this was until that one was over, when it was renamed before: nobody gets new limits by renaming it on and on. */
export async function formerTask(
  { store, vault }: VaultDesk,
  { id, inode, bornAt, arrivedAt }: Pick<Arrival, 'id' | 'inode' | 'bornAt' | 'arrivedAt'>,
): Promise<string | undefined> {
  const tasks = await store.tasks.list(vault)
  const formers = tasks.filter((row) => row.id !== id && row.record.inode === inode && row.record.bornAt === bornAt)
  const last = formers.find(({ movedAt }) => arrivedAt <= movedAt)
  return last && formers.length > 1 && ended(await store.load(last.loop)) ? last.id : undefined
}
