/** Brings a database up to date, or makes it. */
import { closeSync, existsSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { RalphError } from '../error.ts'
import { connect, TABLES, versionOf } from './database.ts'
import { refuseNetworkFolder } from './files.ts'
import { MIGRATIONS } from './schema.ts'

export function openDatabase(path: string): DatabaseSync {
  refuseNetworkFolder(dirname(path))
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600)) // for its owner alone, which SQLite would not see to
  const database = connect(path)
  try {
    if (versionOf(database) !== TABLES) migrate(database, path)
    return database
  } catch (cause) {
    database.close() // and with it the transaction, so that others can open it
    throw cause
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
  for (const migration of MIGRATIONS.slice(version)) database.exec(migration)
  database.exec(`PRAGMA user_version = ${TABLES}; COMMIT`)
}
