/** Scans everything in Postgres for records that can no longer be read. */
import { RECORDS, troubleWith } from '../damage.ts'
import { parse, type Row, type StoredLoop, toEvent, toSoundLoop } from '../rows.ts'
import type { PgAsking } from './asking.ts'

const PORTION = 200

/** The first one, in a sentence; undefined if all of them can be read. */
export async function damageIn(asking: PgAsking): Promise<string | undefined> {
  for (const [table, read] of [
    ['loop', (row: Row) => toSoundLoop(row as StoredLoop)],
    ['event', toEvent],
  ] as const)
    for await (const row of inPortions(asking, table)) {
      const found = troubleWith(() => read(row))
      if (found) return found
    }
  for (const [table, column, name] of RECORDS)
    for (const row of await asking.all(`SELECT * FROM ${table}`)) {
      const found = troubleWith(() => parse(row[column], name(row)))
      if (found) return found
    }
  return undefined
}

async function* inPortions({ all }: PgAsking, table: 'loop' | 'event'): AsyncGenerator<Row> {
  for (let after = 0; ; ) {
    const rows = await all(`SELECT * FROM ${table} WHERE seq > $1 ORDER BY seq LIMIT ${PORTION}`, after)
    yield* rows
    if (rows.length < PORTION) return
    after = Number(rows.at(-1)?.seq)
  }
}
