/** A task of a vault as the owner of its loop. */
import type { Loop, Work } from '../engine/loop.ts'

/** A file in a vault, worked on until it is in the done folder. Folders are relative to the vault. */
export type VaultTask = {
  kind: 'vault'
  /** The real path of the vault. */
  path: string
  id: string
  /** The name of its file, and where it was at the start. */
  file: string
  from: string
  /** Inodes of other files of that name in the vault at the start: none is this one, unless moved to its place. */
  others?: number[]
  done: string
  state: string
  /** Who takes the turns: `ralph watch`, or whoever calls the task API. */
  by: 'caller' | 'watch'
}

/** The task of a loop that has one. */
export function vaultOf({ id, spec }: Loop): VaultTask {
  const task = findVaultTask(spec.work)
  if (!task) throw new Error(`Loop ${id} is not a vault task.`)
  return task
}

/** Undefined for a loop with another owner. */
export function findVaultTask({ owner }: Pick<Work, 'owner'>): VaultTask | undefined {
  return owner?.kind === 'vault' ? (owner as VaultTask) : undefined // only this folder creates owners of that kind
}

/** The folder and owner of a task, for its spec. */
export function placeOf(task: VaultTask): Pick<Work, 'dir' | 'faces'> & { owner: VaultTask } {
  return { dir: task.path, owner: task, faces: [`${task.path}/${task.state}`] }
}
