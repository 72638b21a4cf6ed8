/** A task of a vault as the owner of its loop. */
import type { Loop, Work } from '../engine/loop.ts'

/** A file in a vault, worked on until it is in the folder for what is done. Folders are told from the vault on. */
export type VaultTask = {
  kind: 'vault'
  /** The vault itself, without links on the way to it. */
  path: string
  id: string
  /** The name of its file, and where it lay at the start. */
  file: string
  from: string
  /** Inodes of the files of that name that lay elsewhere in the vault at the start: none of them is it, unless put in its place. */
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

/** Undefined for a loop of somebody else. */
export function findVaultTask({ owner }: Pick<Work, 'owner'>): VaultTask | undefined {
  return owner?.kind === 'vault' ? (owner as VaultTask) : undefined // this folder alone makes owners of that kind
}

/** Where a task works and what it is, for its spec. */
export function placeOf(task: VaultTask): Pick<Work, 'dir' | 'faces'> & { owner: VaultTask } {
  return { dir: task.path, owner: task, faces: [`${task.path}/${task.state}`] }
}
