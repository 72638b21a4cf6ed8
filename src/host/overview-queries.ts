/**
 * All loops at a glance, and which of them need a person, in SQL. Indexes cover it, so that specs and tallies are not
 * read.
 */
import type { Status } from '../engine/loop.ts'
import type { BoardStatus } from '../formats/board-task.ts'
import type { Asking } from './asking.ts'
import type { Row } from './rows.ts'
import { ownerField, PARENT } from './schema.ts'
import type { NeedingLoop, Store } from './store.ts'

export const MOST_FOLDERS = 20
export const MOST_UNDER_WAY = 200

export function overviewQueries({ all, one }: Asking): Pick<Store, 'overview' | 'needing'> {
  return {
    async overview(since) {
      const folders = all(
        `SELECT dir, count(*) AS loops FROM loop GROUP BY dir ORDER BY max(started_at) DESC, dir LIMIT ${MOST_FOLDERS}`,
      )
      const cost = one('SELECT total(cost_usd) AS usd FROM iteration WHERE ended_at >= ?', since)
      return {
        byStatus: countsOf<Status>(all('SELECT status, count(*) AS n FROM loop GROUP BY status')),
        tasks: countsOf<BoardStatus>(
          all('SELECT status, count(*) AS n FROM board_task WHERE archived = 0 GROUP BY status'),
        ),
        folders: folders.map(({ dir, loops }) => ({ dir: String(dir), loops: Number(loops) })),
        costUsd: Number(cost?.usd),
      }
    },

    needing: async (since) => all(NEEDING, since).map(toNeeding),
  }
}

export function countsOf<Word extends string>(rows: readonly Row[]): Partial<Record<Word, number>> {
  return Object.fromEntries(rows.map(({ status, n }) => [status, Number(n)])) as Partial<Record<Word, number>>
}

const own = (field: Parameters<typeof ownerField>[0]) => ownerField(field, 'stuck.')

/**
 * Another loop continues its work: a fork, a retry, or a later one for the same task. A settled task needs nobody. The
 * plus keeps the id from being a text column, for which SQLite would not use the index on the expression.
 */
const IS_CONTINUED = `EXISTS (SELECT 1 FROM loop WHERE ${PARENT} = +stuck.id) OR CASE owner
  WHEN 'board' THEN EXISTS (SELECT 1 FROM board_task AS task WHERE task.id = ${own('task')}
    AND (task.loop IS NOT stuck.id OR task.archived OR task.status IN ('done', 'cancelled')))
  WHEN 'vault' THEN EXISTS (SELECT 1 FROM task WHERE vault = ${own('path')} AND task.id = ${own('id')} AND loop <> stuck.id)
  WHEN 'project' THEN EXISTS (SELECT 1 FROM loop AS later WHERE later.dir = stuck.dir AND later.started_at > stuck.started_at
    AND later.owner = 'project' AND ${ownerField('name', 'later.')} = ${own('name')}
    AND ${ownerField('task', 'later.')} = ${own('task')})
END`

export const NEEDING: string = `SELECT needing.*, coalesce(seen.n, 0) AS seen FROM (
    SELECT 'asks' AS why, id, status, updated_at, events FROM loop WHERE status = 'needs-input'
    UNION ALL
    SELECT 'stuck', id, status, updated_at, events FROM loop AS stuck INDEXED BY loop_halted
    WHERE status = 'halted' AND updated_at >= ? AND NOT coalesce(${IS_CONTINUED}, 0)
    UNION ALL
    SELECT 'review', loop.id, loop.status, loop.updated_at, loop.events FROM board_task AS task JOIN loop ON loop.id = task.loop
    WHERE task.archived = 0 AND task.status = 'in-review' AND loop.status = 'completed'
    UNION ALL
    SELECT * FROM (SELECT 'under-way', id, status, updated_at, events FROM loop INDEXED BY loop_by_status
      WHERE status IN ('running', 'verifying', 'waiting') ORDER BY updated_at DESC LIMIT ${MOST_UNDER_WAY})
  ) AS needing LEFT JOIN seen ON seen.loop = needing.id ORDER BY updated_at DESC, id`

export function toNeeding(row: Row): NeedingLoop {
  return {
    loop: String(row.id),
    why: row.why as NeedingLoop['why'],
    status: row.status as Status,
    at: Number(row.updated_at),
    n: Number(row.events),
    seen: Number(row.seen),
  }
}
