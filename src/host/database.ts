/** Opens ralph's SQLite files and puts their errors in plain words. */
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { inSqliteWords } from './plain-words.ts'

/** How many migrations there are; a database that has all of them is opened as it is. */
export const TABLES = 14

export function connect(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 10_000 })
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON')
    return database
  } catch (cause) {
    database.close()
    throw cause
  }
}

export function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version)
}

/** A database that is up to date; undefined if it is missing or must be migrated first. */
export function openCurrent(path: string): DatabaseSync | undefined {
  if (!existsSync(path)) return undefined
  const database = connect(path)
  if (versionOf(database) === TABLES) return database
  database.close()
  return undefined
}

export const BUSY = 5
const FULL = 13
// SQLite's error when its shared memory cannot be created: the disk is full as well.
const NO_ROOM_TO_SHARE = 10 | (19 << 8)

/** SQLite's primary result code of an error, if SQLite threw it. */
export function resultCode(cause: unknown): number | undefined {
  if (!(cause instanceof Error && 'errcode' in cause && typeof cause.errcode === 'number')) return undefined
  return cause.errcode === NO_ROOM_TO_SHARE ? FULL : cause.errcode & 0xff
}

/** Puts SQLite errors that a person can do something about into sentences. */
export function plainly<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (cause) {
    throw inSqliteWords(cause, path, resultCode(cause))
  }
}
