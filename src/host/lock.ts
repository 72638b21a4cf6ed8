/** The lock that proves life: a driver keeps a transaction open in its loop's own small file as long as it lives. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { plainly, resultCode } from './database.ts'
import { inPlainWords } from './files.ts'
import type { Held } from './store.ts'

/** Undefined when somebody else holds it. The kernel frees it the moment its holder dies, however that dies. */
export function lockLoop(home: string, id: string): DatabaseSync | undefined {
  return take(lockOf(home, id), LONGEST_LOOK_MS)
}

/** The lock of something that other homes may know, too: it lies beside it, and tells who holds it. */
export function lockFile(path: string, holder: string): DatabaseSync | Held {
  try {
    const lock = take(path, LONGEST_LOOK_MS)
    if (!lock) return { heldBy: holderOf(path) }
    try {
      lock.exec('CREATE TABLE IF NOT EXISTS holder (name TEXT); DELETE FROM holder')
      lock.prepare('INSERT INTO holder VALUES (?)').run(holder)
      // What stands in an open transaction nobody else can read.
      lock.exec('COMMIT; BEGIN IMMEDIATE')
      return lock
    } catch (cause) {
      lock.close()
      // Between the two somebody else was quicker, or reads for long who holds it.
      if (resultCode(cause) === BUSY) return { heldBy: 'another process' }
      throw cause
    }
  } catch (cause) {
    throw inPlainWords(cause, path)
  }
}

function holderOf(path: string): string {
  const lock = new DatabaseSync(path, { readOnly: true, timeout: LONGEST_LOOK_MS })
  try {
    return String(lock.prepare('SELECT name FROM holder').get()?.name ?? 'another process')
  } catch {
    return 'another process' // it is about to write its name
  } finally {
    lock.close()
  }
}

/** Whether somebody alive drives a loop; the database itself is not needed to tell. */
export function isLocked(home: string, id: string): boolean {
  const path = lockOf(home, id)
  if (!existsSync(path)) return false
  const lock = take(path, SHORT_LOOK_MS)
  lock?.close()
  return !lock
}

function lockOf(home: string, id: string): string {
  return join(home, 'locks', `${id}.db`)
}

// Who looks whether a loop is driven holds its lock for a moment. That must not be taken for a driver.
const SHORT_LOOK_MS = 20
const LONGEST_LOOK_MS = 100
const BUSY = 5

function take(path: string, patienceMs: number): DatabaseSync | undefined {
  return plainly(path, () => {
    const lock = new DatabaseSync(path, { timeout: patienceMs })
    try {
      lock.exec('BEGIN IMMEDIATE')
      return lock
    } catch (cause) {
      lock.close()
      if (resultCode(cause) === BUSY) return undefined
      throw cause
    }
  })
}
