/** Many rows at once, in as few statements as Postgres takes. */
import type { PgAsking, PgColumns } from './asking.ts'

/** Postgres counts the values of a statement in two bytes, and a call takes only that many arguments. */
const MOST_VALUES = 10_000

/** All have the same columns. Runs inside a transaction. */
export async function insertMany({ run }: PgAsking, table: string, rows: readonly PgColumns[]): Promise<void> {
  const [first] = rows
  if (!first) return
  const names = Object.keys(first)
  const portion = Math.max(1, Math.floor(MOST_VALUES / names.length))
  for (let from = 0; from < rows.length; from += portion) {
    const some = rows.slice(from, from + portion)
    const places = some.map((_, row) => `(${names.map((_, column) => `$${row * names.length + column + 1}`)})`)
    const values = some.flatMap((row) => names.map((name) => row[name] ?? null))
    await run(`INSERT INTO ${table} ("${names.join('","')}") VALUES ${places}`, ...values)
  }
}
