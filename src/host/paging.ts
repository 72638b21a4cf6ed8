/** Rows of a table in pages, newest first, by conditions. */
import type { SQLInputValue } from 'node:sqlite'
import { RalphError } from '../error.ts'
import type { Asking } from './asking.ts'
import type { Row } from './rows.ts'

export type Condition = { sql: string; values: SQLInputValue[] }

/** `time`: the column that says what is newest. `after`: the `next` of an earlier page. */
export type Paging = { table: string; time: string; limit?: number | undefined; after?: string | undefined }

const MOST = 1_000

/** `next` is there when more rows follow. */
export function readPage(
  { all }: Asking,
  conditions: readonly Condition[],
  { table, time, limit = MOST, after }: Paging,
): { rows: Row[]; next?: string } {
  const position = after === undefined ? [] : [{ sql: `(${time}, rowid) < (?, ?)`, values: positionOf(after) }]
  const met = [...conditions, ...position]
  const where = met.length > 0 ? `WHERE ${met.map(({ sql }) => sql).join(' AND ')}` : ''
  const rows = all(
    `SELECT rowid, * FROM ${table} ${where} ORDER BY ${time} DESC, rowid DESC LIMIT ?`,
    ...met.flatMap(({ values }) => values),
    limit + 1, // one more tells whether there is another page
  )
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, ...(last && rows.length > limit ? { next: `${last[time]}-${last.rowid}` } : {}) }
}

/** A column that has one of these values. */
export function oneOf(column: string, values: readonly string[]): Condition {
  return { sql: `${column} IN (${values.map(() => '?')})`, values: [...values] }
}

function positionOf(cursor: string): number[] {
  const [, time, row] = /^(-?\d{1,15})-(\d{1,15})$/.exec(cursor) ?? []
  if (time === undefined || row === undefined)
    throw new RalphError('usage', `"${cursor}" is not a cursor. Use the \`next\` of an earlier page, or leave it out.`)
  return [Number(time), Number(row)]
}
