/** All loops at a glance, and which of them need a person, in Postgres. */
import type { Status } from '../../engine/loop.ts'
import type { BoardStatus } from '../../formats/board-task.ts'
import { countsOf, MOST_FOLDERS, MOST_UNDER_WAY, toNeeding } from '../overview-queries.ts'
import type { Store } from '../store.ts'
import type { PgAsking } from './asking.ts'

export function overviewQueries({ all, one }: PgAsking): Pick<Store, 'overview' | 'needing'> {
  return {
    async overview(since) {
      const folders = await all(
        `SELECT dir, count(*) AS loops FROM loop GROUP BY dir ORDER BY max(started_at) DESC, dir LIMIT ${MOST_FOLDERS}`,
      )
      const cost = await one('SELECT coalesce(sum(cost_usd), 0) AS usd FROM iteration WHERE ended_at >= $1', since)
      return {
        byStatus: countsOf<Status>(await all('SELECT status, count(*) AS n FROM loop GROUP BY status')),
        tasks: countsOf<BoardStatus>(
          await all('SELECT status, count(*) AS n FROM board_task WHERE archived = 0 GROUP BY status'),
        ),
        folders: folders.map(({ dir, loops }) => ({ dir: String(dir), loops: Number(loops) })),
        costUsd: Number(cost?.usd),
      }
    },

    needing: async (since) => (await all(NEEDING, since)).map(toNeeding),
  }
}

/** Another loop continues its work: a fork, a retry, or a later one for the same task. A settled task needs nobody. */
const IS_CONTINUED = `EXISTS (SELECT 1 FROM loop WHERE parent = stuck.id) OR CASE stuck.owner
  WHEN 'board' THEN EXISTS (SELECT 1 FROM board_task AS task WHERE task.id = stuck.owner_task
    AND (task.loop IS DISTINCT FROM stuck.id OR task.archived = 1 OR task.status IN ('done', 'cancelled')))
  WHEN 'fleet' THEN EXISTS (SELECT 1 FROM fleet_task WHERE fleet_task.id = stuck.owner_task
    AND (loop_id <> stuck.id OR state IN ('done', 'cancelled')))
  WHEN 'vault' THEN EXISTS (SELECT 1 FROM task
    WHERE vault = stuck.owner_path AND task.id = stuck.owner_id AND loop <> stuck.id)
  WHEN 'project' THEN EXISTS (SELECT 1 FROM loop AS later WHERE later.dir = stuck.dir
    AND later.started_at > stuck.started_at AND later.owner = 'project'
    AND later.owner_name = stuck.owner_name AND later.owner_task = stuck.owner_task)
END`

const NEEDING = `SELECT needing.*, coalesce(seen.n, 0) AS seen FROM (
    SELECT 'asks' AS why, id, status, updated_at, events FROM loop WHERE status = 'needs-input'
    UNION ALL
    SELECT 'stuck', id, status, updated_at, events FROM loop AS stuck
    WHERE status = 'halted' AND updated_at >= $1 AND NOT coalesce(${IS_CONTINUED}, false)
    UNION ALL -- What no worker could begin, or merge.
    SELECT CASE task.state WHEN 'failed' THEN 'stuck' ELSE 'asks' END, loop.id, loop.status, loop.updated_at, loop.events
    FROM fleet_task AS task JOIN loop ON loop.id = task.loop_id
    WHERE (task.state = 'resting' AND loop.status = 'paused' AND task.sentence IS NOT NULL)
      OR (task.state = 'failed' AND loop.status = 'completed' AND task.updated_at >= $1)
    UNION ALL
    SELECT 'review', loop.id, loop.status, loop.updated_at, loop.events
    FROM board_task AS task JOIN loop ON loop.id = task.loop
    WHERE task.archived = 0 AND task.status = 'in-review' AND loop.status = 'completed'
    UNION ALL
    SELECT * FROM (SELECT 'under-way', id, status, updated_at, events FROM loop
      WHERE status IN ('running', 'verifying', 'waiting') AND owner <> 'fleet' ORDER BY updated_at DESC LIMIT ${MOST_UNDER_WAY}) AS under_way
  ) AS needing LEFT JOIN seen ON seen.loop = needing.id ORDER BY updated_at DESC, id`
