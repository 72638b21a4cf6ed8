/** Queries about loops, in SQL. */
import { OVER } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import type { Asking } from './asking.ts'
import { listIterations } from './iteration-queries.ts'
import { unknownLoop } from './loop-store.ts'
import { type Condition, oneOf, readPage } from './paging.ts'
import { type Row, readable, type StoredLoop, toEvent, toLoopRow, toSoundLoop } from './rows.ts'
import type { ListFilter, Store } from './store.ts'
import { readStrip } from './strip-queries.ts'

/** A loop that has not ended. */
export const IS_OPEN: string = `status NOT IN (${OVER.map((word) => `'${word}'`).join(', ')})`

export type LoopQueries = Pick<
  Store,
  'find' | 'list' | 'lastIn' | 'events' | 'newLoops' | 'heads' | 'iterations' | 'strips' | 'history' | 'overlapping'
>

export function loopQueries(asking: Asking): LoopQueries {
  const { all, one } = asking
  return {
    find: async (name) => findLoop(asking, name),
    list: async (filter = {}) => listLoops(asking, filter),

    async lastIn(dir) {
      const row = one(
        `SELECT * FROM loop WHERE dir = ? AND iteration > 0 AND CASE json_valid(spec) WHEN 1 THEN json_extract(spec, '$.work.worktree') END IS NULL
         ORDER BY started_at DESC, rowid DESC LIMIT 1`,
        dir,
      )
      return row && toSoundLoop(row as StoredLoop)
    },

    async events(after, loop) {
      if (loop !== undefined)
        return all('SELECT * FROM event WHERE loop = ? AND seq > ? ORDER BY seq', loop, after).map(toEvent)
      return readable(all('SELECT * FROM event WHERE seq > ? ORDER BY seq LIMIT 1000', after), toEvent)
    },

    iterations: async (loop, span) => listIterations(asking, loop, span),
    strips: async (loops, most) => loops.flatMap((loop) => readStrip(asking, loop, most) ?? []),

    async newLoops(after) {
      const rows = all('SELECT rowid, * FROM loop WHERE rowid > ? ORDER BY rowid LIMIT 500', after)
      return rows.map((row) => ({ seq: Number(row.rowid), ...toLoopRow(row) }))
    },

    async heads() {
      const row = one(
        `SELECT ${['event', 'board_change', 'pane_change'].map((name) => `(SELECT seq FROM sqlite_sequence WHERE name = '${name}') AS ${name}`)},
         (SELECT max(rowid) FROM loop) AS loop`,
      )
      const last = (table: string) => Number(row?.[table] ?? 0)
      return { events: last('event'), board: last('board_change'), panes: last('pane_change'), loops: last('loop') }
    },

    async history() {
      return all(`SELECT iteration FROM loop WHERE status = 'completed' ORDER BY updated_at DESC LIMIT 200`).map(
        (row) => Number(row.iteration),
      )
    },

    async overlapping(loop, dir, since) {
      const row = one(
        `SELECT count(*) AS n FROM loop WHERE dir = ? AND id <> ?
         AND (updated_at > ? OR (${IS_OPEN} AND status NOT IN ('needs-input', 'paused', 'queued')))`,
        dir,
        loop,
        since,
      )
      return Number(row?.n)
    },
  }
}

function findLoop({ all }: Asking, name: string): string {
  return theOne(
    name,
    all(`SELECT id FROM loop WHERE substr(id, 1, ?) = ? ORDER BY started_at DESC LIMIT 6`, name.length, name),
  )
}

/** `rows`: the loops whose ids start with that. */
export function theOne(name: string, rows: readonly Row[]): string {
  if (rows.some((row) => row.id === name)) return name
  if (rows.length === 0 || !name) throw unknownLoop(name)
  if (rows.length > 1)
    throw new RalphError(
      'loop-unknown',
      `"${name}" matches several loops: ${rows.map((row) => row.id).join(', ')}. Type more of the id.`,
    )
  return String(rows[0]?.id)
}

function listLoops(asking: Asking, { limit, after, ...filter }: ListFilter): Awaited<ReturnType<Store['list']>> {
  const { rows, ...next } = readPage(asking, loopConditions(filter, 'instr(lower(prompt), lower(?)) > 0'), {
    table: 'loop',
    time: 'started_at',
    limit,
    after,
  })
  return { rows: rows.map(toLoopRow), ...next }
}

/** `contains`: text that the prompt must contain. */
export function loopConditions({ status, owner, dir, text }: ListFilter, contains: string): Condition[] {
  const conditions: Condition[] = []
  if (status) conditions.push(oneOf('status', status))
  if (owner !== undefined) conditions.push({ sql: 'owner = ?', values: [owner] })
  if (dir !== undefined) conditions.push({ sql: 'dir = ?', values: [dir] })
  if (text !== undefined) conditions.push({ sql: contains, values: [text] })
  return conditions
}
