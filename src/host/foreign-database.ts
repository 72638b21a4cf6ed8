/** Reads the database of another program without leaving a trace: not in it, and no file next to it. */
import { closeSync, copyFileSync, existsSync, mkdtempSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { RalphError } from '../error.ts'
import { BUSY, resultCode } from './database.ts'
import type { Row } from './rows.ts'

const HEADER = 20
const WAL = 2

/** Whether a file is a SQLite database, by its content. */
export function isDatabase(path: string): boolean {
  return headerOf(path)?.toString('latin1', 0, 16) === 'SQLite format 3\0'
}

/** The rows of these tables; a missing table has none. Undefined if a `needed` one is missing. */
export function readTables<Table extends string>(
  path: string,
  tables: readonly Table[],
  needed: readonly Table[],
): Record<Table, Row[]> | undefined {
  return openedAside(path, (database) => {
    const there = new Set(
      database
        .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
        .all()
        .map(({ name }) => String(name)),
    )
    if (!needed.every((table) => there.has(table))) return undefined
    const rowsOf = (table: Table) => (there.has(table) ? allRows(database, table) : [])
    return Object.fromEntries(tables.map((table) => [table, rowsOf(table)])) as Record<Table, Row[]>
  })
}

/** A number that is too large for JavaScript counts as missing. */
function allRows(database: DatabaseSync, table: string): Row[] {
  const statement = database.prepare(`SELECT * FROM "${table}"`)
  statement.setReadBigInts(true)
  const toValue = (value: unknown) =>
    typeof value !== 'bigint' ? value : Number.isSafeInteger(Number(value)) ? Number(value) : null
  return statement
    .all()
    .map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toValue(value)])) as Row)
}

function openedAside<Result>(path: string, work: (database: DatabaseSync) => Result): Result {
  if (isAtRest(path)) return worked(path, path, work)
  const folder = mkdtempSync(join(tmpdir(), 'ralph-import-'))
  try {
    return worked(path, copied(path, folder), work)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const LOGS = ['-wal', '-journal']

/** With a log next to it, or one that opening it would create, SQLite would write there even to read. */
function isAtRest(path: string): boolean {
  return headerOf(path)?.[18] !== WAL && !LOGS.some((ending) => existsSync(`${path}${ending}`))
}

const TRIES = 5

/** A copy of one moment: if something changed while copying, it copies again. */
function copied(path: string, folder: string): string {
  const target = join(folder, 'copy.db')
  const parts = ['', ...LOGS]
  const state = () => parts.map((ending) => stateOf(`${path}${ending}`)).join(' ')
  for (let tries = 0; tries < TRIES; tries++) {
    const before = state()
    for (const ending of parts) {
      rmSync(`${target}${ending}`, { force: true })
      if (existsSync(`${path}${ending}`)) copyFileSync(`${path}${ending}`, `${target}${ending}`)
    }
    if (state() === before) return target
  }
  throw new RalphError(
    'file-unusable',
    `${path} is being written by another program. Stop that program, then import again.`,
  )
}

function stateOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stat ? `${stat.mtimeNs}-${stat.size}-${stat.ino}` : 'none'
}

function worked<Result>(path: string, opened: string, work: (database: DatabaseSync) => Result): Result {
  try {
    // A copy may need recovery first; the original is never opened for writing.
    const database = new DatabaseSync(opened, { readOnly: opened === path, timeout: 5_000 })
    try {
      return work(database)
    } finally {
      database.close()
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new RalphError(
      'file-unusable',
      `${path} cannot be read: ${why}.${resultCode(cause) === BUSY ? ' Close the program that uses it, then try again.' : ''}`,
      { cause },
    )
  }
}

function headerOf(path: string): Buffer | undefined {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined
  const header = Buffer.alloc(HEADER)
  try {
    const file = openSync(path, 'r')
    try {
      return readSync(file, header, 0, HEADER, 0) === HEADER ? header : undefined
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined // whoever reads it as text reports what is wrong with it
  }
}
