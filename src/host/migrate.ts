/** Creates a database, or brings it up to date. */
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { RalphError } from '../error.ts'
import { adoptLoops } from './adopt-loops.ts'
import { BUSY, connect, resultCode, TABLES, versionOf } from './database.ts'
import { refuseNetworkFolder } from './files.ts'
import { secureDatabase } from './home.ts'
import { MIGRATIONS } from './schema.ts'
import { countStories, openRecords } from './transcript.ts'

/** `fresh`: created even if transcripts show that there was one. */
export function openDatabase(path: string, fresh = false): DatabaseSync {
  refuseNetworkFolder(dirname(path))
  if (!fresh) mustNotBeLost(path)
  if (existsSync(path)) secureDatabase(path)
  else closeSync(openSync(path, 'a', 0o600)) // private to its owner, which SQLite does not take care of
  const database = connectPatiently(path)
  try {
    if (versionOf(database) !== TABLES) migrate(database, path)
    return database
  } catch (cause) {
    database.close() // and with it the transaction, so that others can open it
    throw cause
  }
}

/** An empty one in its place would look as if there had never been a loop. */
function mustNotBeLost(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.size) return
  const loops = countStories(dirname(path))
  if (loops === 0) return
  throw new RalphError(
    'database-missing',
    `${path} is missing, but the transcripts of ${loops === 1 ? 'a loop' : `${loops} loops`} are still there. \`ralph doctor --rebuild\` rebuilds the database from them.`,
  )
}

const PATIENCE_MS = 10_000

/** SQLite itself does not wait while another process creates the same database. */
function connectPatiently(path: string): DatabaseSync {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return connect(path)
    } catch (cause) {
      if (resultCode(cause) !== BUSY || performance.now() > until) throw cause
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
}

function migrate(database: DatabaseSync, path: string): void {
  database.exec('BEGIN IMMEDIATE')
  const version = versionOf(database)
  if (version > TABLES)
    throw new RalphError(
      'database-newer',
      `${path} was written by a newer ralph (tables ${version}; this one knows ${TABLES}). Update ralph, or set RALPH_HOME to another folder.`,
    )
  for (const migration of MIGRATIONS.slice(version))
    if (migration === 'adopt') adoptLoops(database, openRecords(dirname(path)))
    else database.exec(migration)
  database.exec(`PRAGMA user_version = ${TABLES}; COMMIT`)
}
