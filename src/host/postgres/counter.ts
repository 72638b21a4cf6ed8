/**
 * Numbers that readers resume from. Postgres' own sequences give them out before the commit, so a reader could miss the
 * one that commits later.
 */
import type { PgAsking, PgColumns } from './asking.ts'

export type Counter = 'loop' | 'event' | 'board' | 'pane'

/** A row with the next number. Each caller waits until the previous one's transaction has ended. */
export function insertNumbered(
  { run }: PgAsking,
  { table, counter }: { table: string; counter: Counter },
  columns: PgColumns,
): Promise<void> {
  const names = Object.keys(columns)
  const places = names.map((_, index) => `$${index + 1}`)
  return run(
    `WITH given AS (UPDATE counter SET n = n + 1 WHERE name = '${counter}' RETURNING n)
     INSERT INTO ${table} (seq, "${names.join('","')}") VALUES ((SELECT n FROM given), ${places})`,
    ...Object.values(columns),
  )
}

/** The last of that many. */
export async function takeNumbers({ one }: PgAsking, counter: Counter, many: number): Promise<number> {
  const row = await one('UPDATE counter SET n = n + $2 WHERE name = $1 RETURNING n', counter, many)
  return Number(row?.n)
}

/** Nobody else gets a number until the transaction has ended. */
export function holdCounter({ run }: PgAsking, counter: Counter): Promise<void> {
  return run('SELECT n FROM counter WHERE name = $1 FOR UPDATE', counter)
}
