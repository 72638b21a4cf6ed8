/** Rows of a table in pages, newest first, by conditions. */
import { RalphError } from '../error.ts'
import type { Asking } from './asking.ts'
import type { Row } from './rows.ts'

export type Condition = { sql: string; values: (string | number)[] }

/**
 * `time`: the column that decides what is newest. `row`: the one that decides within a millisecond. `after`: the `next`
 * of an earlier page.
 */
export type Paging = {
  table: string
  time: string
  row?: string
  limit?: number | undefined
  after?: string | undefined
}

export type Page = { rows: Row[]; next?: string }

const MOST = 1_000

/** `next` is set if more rows follow. */
export function readPage({ all }: Asking, conditions: readonly Condition[], paging: Paging): Page {
  const { sql, values } = pageQuery(conditions, paging)
  return toPage(all(sql, ...values), paging)
}

export function pageQuery(
  conditions: readonly Condition[],
  { table, time, row = 'rowid', limit = MOST, after }: Paging,
): Condition {
  const position = after === undefined ? [] : [{ sql: `(${time}, ${row}) < (?, ?)`, values: positionOf(after) }]
  const met = [...conditions, ...position]
  const where = met.length > 0 ? `WHERE ${met.map(({ sql }) => sql).join(' AND ')}` : ''
  return {
    sql: `SELECT ${row}, * FROM ${table} ${where} ORDER BY ${time} DESC, ${row} DESC LIMIT ?`,
    values: [...met.flatMap(({ values }) => values), limit + 1], // one more shows whether there is another page
  }
}

export function toPage(rows: readonly Row[], { time, row = 'rowid', limit = MOST }: Paging): Page {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, ...(last && rows.length > limit ? { next: `${last[time]}-${last[row]}` } : {}) }
}

/** A column that has one of these values. */
export function oneOf(column: string, values: readonly string[]): Condition {
  return values.length === 0
    ? { sql: 'false', values: [] }
    : { sql: `${column} IN (${values.map(() => '?')})`, values: [...values] }
}

function positionOf(cursor: string): number[] {
  const [, time, row] = /^(-?\d{1,15})-(\d{1,15})$/.exec(cursor) ?? []
  if (time === undefined || row === undefined)
    throw new RalphError('usage', `Invalid cursor: "${cursor}". Use the \`next\` of an earlier page, or omit it.`)
  return [Number(time), Number(row)]
}
