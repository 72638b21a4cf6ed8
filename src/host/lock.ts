/** The lock that proves life: a driver keeps a transaction open in its loop's own small file as long as it lives. */
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { BUSY, plainly, resultCode } from './database.ts'
import { inPlainWords } from './plain-words.ts'
import type { Held } from './store.ts'

/** Undefined when somebody else holds it. The kernel frees it the moment its holder dies, however that dies. */
export function lockLoop(home: string, id: string, patienceMs: number = PATIENCE_MS): DatabaseSync | undefined {
  return open(lockOf(home, id), patienceMs, TAKE)
}

/** The lock of something that other homes may know, too: it lies beside it, and tells who holds it. */
export function lockFile(path: string, holder: string): DatabaseSync | Held {
  try {
    const lock = open(path, PATIENCE_MS, TAKE)
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
  const lock = new DatabaseSync(path, { readOnly: true, timeout: PATIENCE_MS })
  try {
    return String(lock.prepare('SELECT name FROM holder').get()?.name ?? 'another process')
  } catch {
    return 'another process' // it is about to write its name
  } finally {
    lock.close()
  }
}

/** A lock that many can hold together; undefined while one holds it alone. */
export function holdTogether(path: string): DatabaseSync | undefined {
  return open(path, PATIENCE_MS, READ)
}

/** Undefined while others hold it together, or another one alone. */
export function holdAlone(path: string, patienceMs: number = PATIENCE_MS): DatabaseSync | undefined {
  return open(path, patienceMs, 'BEGIN EXCLUSIVE')
}

/** Whether somebody alive drives a loop; the database itself is not needed to tell. Who looks only reads, which holds no driver back. */
export function isLocked(home: string, id: string): boolean {
  const path = lockOf(home, id)
  if (!existsSync(path)) return false
  const look = open(path, PATIENCE_MS, READ)
  look?.close()
  // In a file that is empty, an open transaction to write has a journal. One that a killed driver left is removed by who reads.
  return !look || existsSync(`${path}-journal`)
}

/** Tells the file of a lock from another one in its place: as long as it is the same, nobody but its holder has the loop. */
export function lockMark(home: string, id: string): number | undefined {
  return statSync(lockOf(home, id), { throwIfNoEntry: false })?.ino
}

function lockOf(home: string, id: string): string {
  return join(home, 'locks', `${id}.db`)
}

// Who removes a killed driver's journal holds the lock for a moment, and so does an older ralph that only looks.
const PATIENCE_MS = 100
const TAKE = 'BEGIN IMMEDIATE'
const READ = 'BEGIN; SELECT 1 FROM sqlite_schema'

/** For its owner alone, which SQLite would not see to. */
function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'a', 0o600))
  } catch {
    // SQLite cannot open it either, and then it is told why
  }
}

function open(path: string, patienceMs: number, begin: string): DatabaseSync | undefined {
  return plainly(path, () => {
    if (!existsSync(path)) makePrivateFile(path)
    const lock = new DatabaseSync(path, { timeout: patienceMs })
    try {
      lock.exec(begin)
      return lock
    } catch (cause) {
      lock.close()
      if (resultCode(cause) === BUSY) return undefined
      throw cause
    }
  })
}
