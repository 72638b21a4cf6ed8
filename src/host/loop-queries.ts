/** What is asked about loops, in SQL. */
import type { SQLInputValue } from 'node:sqlite'
import { OVER } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import type { Asking } from './asking.ts'
import { unknownLoop } from './loop-store.ts'
import { toEvent, toIteration, toLoopRow } from './rows.ts'
import type { ListFilter, Store } from './store.ts'
import { readTotals } from './totals.ts'

/** A loop that is not over. */
export const IS_OPEN: string = `status NOT IN (${OVER.map((word) => `'${word}'`).join(', ')})`

type Queries = Pick<Store, 'find' | 'list' | 'events' | 'iterations' | 'totals' | 'history' | 'overlapping'>

export function loopQueries(asking: Asking): Queries {
  const { all, one } = asking
  return {
    find: async (name) => findLoop(asking, name),
    list: async (filter = {}) => listLoops(asking, filter),
    totals: async () => readTotals(all),

    async events(after, loop) {
      const rows =
        loop === undefined
          ? all('SELECT * FROM event WHERE seq > ? ORDER BY seq LIMIT 1000', after)
          : all('SELECT * FROM event WHERE loop = ? AND seq > ? ORDER BY seq', loop, after)
      return rows.map(toEvent)
    },

    async iterations(loop) {
      const verdicts = Map.groupBy(
        all('SELECT * FROM check_result WHERE loop = ? ORDER BY iteration, position', loop),
        (row) => Number(row.iteration),
      )
      return all('SELECT * FROM iteration WHERE loop = ? ORDER BY n', loop).map((row) =>
        toIteration(row, verdicts.get(Number(row.n)) ?? []),
      )
    },

    async history() {
      return all(`SELECT iteration FROM loop WHERE status = 'completed' ORDER BY updated_at DESC LIMIT 200`).map(
        (row) => Number(row.iteration),
      )
    },

    async overlapping(loop, dir, since) {
      const row = one(
        `SELECT count(*) AS n FROM loop WHERE dir = ? AND id <> ?
         AND (updated_at > ? OR (${IS_OPEN} AND status NOT IN ('needs-input', 'paused')))`,
        dir,
        loop,
        since,
      )
      return Number(row?.n)
    },
  }
}

function findLoop({ all }: Asking, name: string): string {
  const rows = all(`SELECT id FROM loop WHERE substr(id, 1, ?) = ? ORDER BY started_at DESC LIMIT 6`, name.length, name)
  if (rows.some((row) => row.id === name)) return name
  if (rows.length === 0 || !name) throw unknownLoop(name)
  if (rows.length > 1)
    throw new RalphError(
      'loop-unknown',
      `"${name}" is the beginning of several loops: ${rows.map((row) => row.id).join(', ')}. Give one more letter.`,
    )
  return String(rows[0]?.id)
}

const MOST = 1_000

function listLoops({ all }: Asking, { limit = MOST, ...filter }: ListFilter): Awaited<ReturnType<Store['list']>> {
  const conditions = conditionsOf(filter)
  const where = conditions.length > 0 ? `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}` : ''
  const rows = all(
    `SELECT rowid, * FROM loop ${where} ORDER BY started_at DESC, rowid DESC LIMIT ?`,
    ...conditions.flatMap(({ values }) => values),
    limit + 1, // one more tells whether there is another page
  )
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    rows: page.map(toLoopRow),
    ...(last && rows.length > limit ? { next: `${last.started_at}-${last.rowid}` } : {}),
  }
}

type Condition = { sql: string; values: SQLInputValue[] }

function conditionsOf({ status, owner, dir, text, after }: ListFilter): Condition[] {
  const conditions: Condition[] = []
  if (status) conditions.push({ sql: `status IN (${status.map(() => '?')})`, values: [...status] })
  if (owner !== undefined) conditions.push({ sql: 'owner = ?', values: [owner] })
  if (dir !== undefined) conditions.push({ sql: 'dir = ?', values: [dir] })
  if (text !== undefined) conditions.push({ sql: 'instr(lower(prompt), lower(?)) > 0', values: [text] })
  if (after !== undefined) conditions.push({ sql: '(started_at, rowid) < (?, ?)', values: positionOf(after) })
  return conditions
}

function positionOf(cursor: string): number[] {
  const [, time, row] = /^(-?\d+)-(\d+)$/.exec(cursor) ?? []
  if (time === undefined || row === undefined)
    throw new RalphError('usage', `"${cursor}" is not a cursor. Use the \`next\` of an earlier page, or leave it out.`)
  return [Number(time), Number(row)]
}
