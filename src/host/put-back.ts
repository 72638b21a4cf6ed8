/** Restores a database whose file was removed while it was open: whoever has it open still has all of it. */
import { chmodSync, existsSync, linkSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { makePrivateFolder } from './files.ts'
import { lockLoop } from './lock.ts'
import { tell } from './waiting.ts'

/** Does nothing if somebody else was quicker. */
export function putBack(database: DatabaseSync, path: string): void {
  const lock = lockDatabaseFile(dirname(path))
  const copy = `${path}.${process.pid}.tmp`
  try {
    if (existsSync(path)) return
    // They belong to the removed file, and would be read as if they belonged to the new one.
    for (const rest of ['-wal', '-shm']) rmSync(path + rest, { force: true })
    rmSync(copy, { force: true })
    database.prepare('VACUUM INTO ?').run(copy)
    chmodSync(copy, 0o600)
    linkSync(copy, path) // completely, or not at all
    tell(`${path} was removed by another program. ralph restored it; nothing is lost.`)
  } finally {
    rmSync(copy, { force: true })
    lock?.close()
  }
}

/** Held while the file of the database is restored or set aside. No loop has this name. */
export function lockDatabaseFile(home: string): DatabaseSync | undefined {
  makePrivateFolder(join(home, 'locks'))
  return lockLoop(home, 'put-back', PATIENCE_MS)
}

const PATIENCE_MS = 10_000
