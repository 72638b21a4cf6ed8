/** The lock of a task lies in its vault, so that watchers with other homes see it, too. */
import { closeSync, lstatSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { lockFile } from '../host/lock.ts'
import type { Held } from '../host/store.ts'
import type { VaultDesk } from './desk.ts'
import { StateFileError } from './errors.ts'
import { isTaskId } from './place.ts'

export type TaskLock = { release(): void }

/** Names that no task can have share one lock: they are only refused. */
const OTHERS = '.others'

/** Taken for as long as a task is worked on. */
export function lockTask({ vault, settings, home }: VaultDesk, id: string): TaskLock | Held {
  const folder = join(vault, settings.stateDir, '.locks')
  const path = join(folder, `${isTaskId(id) ? id : OTHERS}.db`)
  const made = makeFile(folder, path, id)
  const isStill = () => made !== undefined && inodeAt(path) === made
  let lock: DatabaseSync | Held
  try {
    lock = lockFile(path, `process ${process.pid} on ${hostname()} with ${home}`)
  } catch (cause) {
    if (isStill()) throw cause
    return { heldBy: 'another process' }
  }
  if ('heldBy' in lock) return lock
  const taken = lock
  const release = () => {
    try {
      // While it is held, so that nobody else's file is removed; who waits for this one finds it gone.
      rmSync(path, { force: true })
    } catch {
      // A folder that cannot be written any more: one that is left over holds nobody back.
    }
    taken.close()
  }
  if (isStill()) return { release }
  taken.close()
  return { heldBy: 'another process' }
}

function makeFile(folder: string, path: string, id: string): number | undefined {
  try {
    mkdirSync(folder, { recursive: true })
    closeSync(openSync(path, 'a', 0o644))
    return inodeAt(path)
  } catch (cause) {
    throw new StateFileError(id, `${folder} cannot be written. Make it writable, then try again.`, { cause })
  }
}

function inodeAt(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.ino
}
