/** The lock that proves life: a driver keeps a transaction open in its loop's own small file as long as it lives. */
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { BUSY, plainly, resultCode } from './database.ts'
import { inPlainWords } from './plain-words.ts'
import type { Held } from './store.ts'

/** Undefined if somebody else holds it. The kernel frees it the moment its holder dies, however it dies. */
export function lockLoop(home: string, id: string, patienceMs: number = PATIENCE_MS): DatabaseSync | undefined {
  return open(lockOf(home, id), patienceMs, TAKE)
}

/** The lock of something that other homes may know as well: it is next to it, and names its holder. */
export function lockFile(path: string, holder: string): DatabaseSync | Held {
  try {
    const lock = open(path, PATIENCE_MS, TAKE)
    if (!lock) return { heldBy: holderOf(path) }
    try {
      lock.exec('CREATE TABLE IF NOT EXISTS holder (name TEXT); DELETE FROM holder')
      lock.prepare('INSERT INTO holder VALUES (?)').run(holder)
      // Nobody else can read what is written in an open transaction.
      lock.exec('COMMIT; BEGIN IMMEDIATE')
      return lock
    } catch (cause) {
      lock.close()
      // Somebody else was quicker in between, or is taking long to read the holder.
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

/** A lock that many can share; undefined while one holds it exclusively. */
export function holdTogether(path: string): DatabaseSync | undefined {
  return open(path, PATIENCE_MS, READ)
}

/** Undefined while others hold it, shared or exclusively. */
export function holdAlone(path: string, patienceMs: number = PATIENCE_MS): DatabaseSync | undefined {
  return open(path, patienceMs, 'BEGIN EXCLUSIVE')
}

/** Whether a living process drives a loop, without needing the database. It only reads, which blocks no driver. */
export function isLocked(home: string, id: string): boolean {
  const path = lockOf(home, id)
  if (!existsSync(path)) return false
  const look = open(path, PATIENCE_MS, READ)
  look?.close()
  // In an empty file, an open write transaction has a journal. One that a killed driver left is removed by the reader.
  return !look || existsSync(`${path}-journal`)
}

/** Tells the file of a lock from another one in its place: as long as it is the same, only its holder has the loop. */
export function lockMark(home: string, id: string): number | undefined {
  return statSync(lockOf(home, id), { throwIfNoEntry: false })?.ino
}

function lockOf(home: string, id: string): string {
  return join(home, 'locks', `${id}.db`)
}

// Removing a killed driver's journal takes the lock for a moment, and so does an older ralph that only looks.
const PATIENCE_MS = 100
const TAKE = 'BEGIN IMMEDIATE'
const READ = 'BEGIN; SELECT 1 FROM sqlite_schema'

/** Private to its owner, which SQLite does not take care of. */
function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'a', 0o600))
  } catch {
    // SQLite cannot open it either, and then reports why
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
