/** The ways to query the database. Statements are prepared once; errors come in plain words. */
import { statSync } from 'node:fs'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { plainly } from './database.ts'
import { putBack } from './put-back.ts'
import type { Columns, Row } from './rows.ts'

export type Asking = {
  run(sql: string, ...values: SQLInputValue[]): unknown
  all(sql: string, ...values: SQLInputValue[]): Row[]
  one(sql: string, ...values: SQLInputValue[]): Row | undefined
  /** Inserts a row; `REPLACE` replaces the one with the same key. */
  insert(table: string, columns: Columns, verb?: 'INSERT' | 'REPLACE'): void
  transaction<Result>(work: () => Result): Result
  /** Whether the file was replaced or removed since it was opened. */
  isGone(): boolean
  /** Continues with the file that is there now; a missing one is restored. */
  repair(): void
  close(): void
}

export function openAsking(path: string, open: (path: string) => DatabaseSync): Asking {
  let database = plainly(path, () => open(path))
  let mark = inodeOf(path)
  const statements = new Map<string, StatementSync>()
  const isGone = () => inodeOf(path) !== mark

  function repair(): void {
    if (!isGone()) return
    plainly(path, () => {
      putBack(database, path)
      const removed = database
      database = open(path)
      mark = inodeOf(path)
      statements.clear()
      removed.close()
    })
  }

  function prepare(sql: string): StatementSync {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }

  const run = (sql: string, ...values: SQLInputValue[]) => plainly(path, () => prepare(sql).run(...values))
  const all = (sql: string, ...values: SQLInputValue[]) => plainly(path, () => prepare(sql).all(...values) as Row[])

  return {
    run,
    all,
    one: (sql, ...values) => all(sql, ...values)[0],
    insert(table, columns, verb = 'INSERT') {
      const names = Object.keys(columns)
      const places = names.map(() => '?')
      run(`${verb} INTO ${table} ("${names.join('","')}") VALUES (${places})`, ...Object.values(columns))
    },
    isGone,
    repair,
    transaction: (work) =>
      plainly(path, () => {
        repair()
        database.exec('BEGIN IMMEDIATE')
        try {
          const result = work()
          database.exec('COMMIT')
          return result
        } catch (cause) {
          if (database.isTransaction) database.exec('ROLLBACK')
          throw cause
        }
      }),
    close: () => database.close(),
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}
