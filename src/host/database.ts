/** A SQLite file of ralph's: opened, brought up to date, and its errors in plain words. */
import { closeSync, existsSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { RalphError } from '../error.ts'
import { MIGRATIONS } from './schema.ts'

export function openDatabase(path: string): DatabaseSync {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600)) // for its owner alone, which SQLite would not see to
  const database = new DatabaseSync(path, { timeout: 10_000 })
  try {
    migrate(database, path)
    return database
  } catch (cause) {
    database.close() // and with it the transaction, so that others can open it
    throw cause
  }
}

function migrate(database: DatabaseSync, path: string): void {
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON')
  database.exec('BEGIN IMMEDIATE')
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version)
  if (version > MIGRATIONS.length)
    throw new RalphError(
      'database-newer',
      `${path} was written by a newer ralph (tables ${version}; this one knows ${MIGRATIONS.length}). Update ralph, or set RALPH_HOME to another folder.`,
    )
  for (const migration of MIGRATIONS.slice(version)) database.exec(migration)
  database.exec(`PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`)
}

const FULL = 13
// What SQLite says when the memory it shares between processes cannot be made: the disk is full, too.
const NO_ROOM_TO_SHARE = 10 | (19 << 8)

/** SQLite's primary result code of an error, if it is one of SQLite's. */
export function resultCode(cause: unknown): number | undefined {
  if (!(cause instanceof Error && 'errcode' in cause && typeof cause.errcode === 'number')) return undefined
  return cause.errcode === NO_ROOM_TO_SHARE ? FULL : cause.errcode & 0xff
}

/** SQLite's errors that a person can do something about, as sentences. */
export function plainly<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (cause) {
    switch (resultCode(cause)) {
      case FULL:
        throw new RalphError(
          'disk-full',
          `No space is left to write ${path}. Free some, then go on with \`ralph resume\`.`,
          { cause },
        )
      case 8:
      case 14:
        throw new RalphError(
          'home-unusable',
          `${path} cannot be opened for writing. Make it writable, or set RALPH_HOME to another folder.`,
          { cause },
        )
      case 11:
      case 26:
        throw new RalphError(
          'database-broken',
          `${path} is damaged. \`ralph doctor --rebuild\` puts it aside and makes a new one from the transcripts.`,
          { cause },
        )
      default:
        throw cause
    }
  }
}
