/** Turns conditions written for both databases into what Postgres wants. */
import { type Condition, type Page, type Paging, pageQuery, toPage } from '../paging.ts'
import type { PgAsking } from './asking.ts'

/** `$1`, `$2` … in the place of question marks. */
export function numbered(sql: string): string {
  let n = 0
  return sql.replaceAll('?', () => `$${++n}`)
}

/** `row`: the column that decides the order within a millisecond. */
export async function readPage(
  { all }: PgAsking,
  conditions: readonly Condition[],
  paging: Omit<Paging, 'row'>,
): Promise<Page> {
  const page = { ...paging, row: 'seq' }
  const { sql, values } = pageQuery(conditions, page)
  return toPage(await all(numbered(sql), ...values), page)
}

/** That a text contains another, ignoring the case of ASCII letters. */
export function contains(text: string): string {
  return `strpos(lower(${text}), lower(? COLLATE "C")) > 0`
}
