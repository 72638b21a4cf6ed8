/** The lock of a task is in its vault, so that watchers with other homes see it too. */
import { createHash } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { RalphError } from '../error.ts'
import { holdAlone, holdTogether, lockFile } from '../host/lock.ts'
import type { Held } from '../host/store.ts'
import type { VaultDesk } from './desk.ts'
import { StateFileError } from './errors.ts'
import { isTaskId } from './place.ts'
import type { VaultTask } from './vault-task.ts'

export type TaskLock = { release(): void }

/** A name that no task can have. */
const otherName = (id: string) => `.${createHash('sha256').update(id).digest('hex')}`

// SQLite confuses two files that had the same name. So taking a lock needs this one meanwhile, shared with others;
// and removing locks needs it exclusively.
const ALL = '.all.db'

/** Held while a task is worked on. Its file stays after release: others may have it open. */
export function lockTask({ vault, settings, home }: VaultDesk, id: string): TaskLock | Held {
  const path = lockOf(vault, settings.stateDir, isTaskId(id) ? id : otherName(id))
  try {
    mkdirSync(dirname(path), { recursive: true })
    return take(path, `process ${process.pid} on ${hostname()} with ${home}`)
  } catch (cause) {
    if (cause instanceof RalphError && cause.code !== 'home-unusable') throw cause
    throw new StateFileError(id, `${dirname(path)} cannot be written. Make it writable, then try again.`, { cause })
  }
}

function take(path: string, holder: string): TaskLock | Held {
  const all = holdTogether(join(dirname(path), ALL))
  if (!all) return { heldBy: 'another process' }
  try {
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o666)) // SQLite would let only its owner write it
    const lock = lockFile(path, holder)
    return 'heldBy' in lock ? lock : { release: () => lock.close() }
  } finally {
    all.close()
  }
}

/** For a task that ended long ago. A held lock stays. */
export function removeTaskLock({ path: vault, state, id }: VaultTask): void {
  const path = lockOf(vault, state, id)
  if (!existsSync(path)) return
  const all = holdAlone(join(dirname(path), ALL))
  if (!all) return
  try {
    const lock = lockFile(path, 'a process that cleans up')
    if ('heldBy' in lock) return
    lock.close()
    rmSync(path) // nobody can have taken it since
  } finally {
    all.close()
  }
}

function lockOf(vault: string, stateDir: string, name: string): string {
  return join(vault, stateDir, '.locks', `${name}.db`)
}
