/** The tasks of vaults in Postgres. */
import type { Loop } from '../../engine/loop.ts'
import { IS_OPEN } from '../loop-queries.ts'
import { parse, readable } from '../rows.ts'
import type { TaskKey, TaskRecord, TaskRecords } from '../store.ts'
import { toTask } from '../task-records.ts'
import type { PgAsking } from './asking.ts'
import { insertLoop } from './loop-columns.ts'

const TASKS = 'SELECT task.*, loop.updated_at, loop.events FROM task JOIN loop ON loop.id = task.loop'

export function taskRecords(asking: PgAsking): TaskRecords {
  const { run, all, one, transaction } = asking
  return {
    begin: (task, loop, record) => transaction((inside) => beginTask(inside, task, loop, record)),

    async load(vault, id) {
      const row = await one(`${TASKS} WHERE vault = $1 AND task.id = $2`, vault, id)
      return row && toTask(row)
    },

    list: async (vault) =>
      readable(await all(`${TASKS} WHERE vault = coalesce($1, vault) ORDER BY started_at, seq`, vault ?? null), toTask),

    open: async (vault) =>
      readable(
        await all(`${TASKS} WHERE vault = $1 AND (${IS_OPEN} OR NOT seen_to) ORDER BY started_at, seq`, vault),
        toTask,
      ),

    change: (task, patch) => patchRecord(asking, task, (record) => ({ ...record, ...patch })),
    fill: (task, patch) => patchRecord(asking, task, (record) => ({ ...patch, ...record })),

    forget: ({ vault, id, loop }) =>
      run('DELETE FROM task WHERE vault = $1 AND id = $2 AND loop = $3', vault, id, loop),

    move: (from, to) => transaction((inside) => moveTasks(inside, from, to)),
  }
}

/** Returns the loop that has not ended yet. */
async function beginTask(
  asking: PgAsking,
  { vault, id }: Pick<TaskKey, 'vault' | 'id'>,
  loop: Loop,
  record: TaskRecord,
): Promise<string | undefined> {
  // A task that does not exist yet cannot be locked: if several start it at once, the others wait here.
  await asking.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', `${vault} ${id}`)
  const row = await asking.one(
    `SELECT loop.id FROM task JOIN loop ON loop.id = task.loop WHERE vault = $1 AND task.id = $2 AND ${IS_OPEN}`,
    vault,
    id,
  )
  if (row) return String(row.id)
  if (!(await asking.one('SELECT id FROM loop WHERE id = $1', loop.id))) await insertLoop(asking, loop)
  await asking.run(
    `INSERT INTO task (vault, id, loop, record, seen_to) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (vault, id)
     DO UPDATE SET loop = excluded.loop, record = excluded.record, seen_to = excluded.seen_to`,
    vault,
    id,
    loop.id,
    ...recordColumns(record),
  )
  return undefined
}

function recordColumns(record: TaskRecord): [record: string, seenTo: boolean] {
  return [JSON.stringify(record), record.files !== undefined]
}

function patchRecord(
  asking: PgAsking,
  { vault, id, loop }: TaskKey,
  patch: (record: TaskRecord) => TaskRecord,
): Promise<void> {
  return asking.transaction(async ({ one, run }) => {
    const sql = 'SELECT record FROM task WHERE vault = $1 AND id = $2 AND loop = $3 FOR UPDATE'
    const row = await one(sql, vault, id, loop)
    if (!row) return
    const columns = recordColumns(patch(parse<TaskRecord>(row.record, `task ${id} of ${vault}`)))
    await run('UPDATE task SET record = $1, seen_to = $2 WHERE vault = $3 AND id = $4', ...columns, vault, id)
  })
}

async function moveTasks({ run }: PgAsking, from: string, to: string): Promise<void> {
  // Of two tasks with one name the later one counts.
  const other = 'task AS other JOIN loop AS theirs ON theirs.id = other.loop'
  const started = '(SELECT started_at FROM loop WHERE loop.id = task.loop)'
  await run(
    `DELETE FROM task WHERE vault = $1 AND EXISTS (
       SELECT 1 FROM ${other} WHERE other.vault = $2 AND other.id = task.id AND theirs.started_at > ${started})`,
    to,
    from,
  )
  await run(
    `UPDATE task SET vault = $1 WHERE vault = $2
     AND NOT EXISTS (SELECT 1 FROM task AS there WHERE there.vault = $1 AND there.id = task.id)`,
    to,
    from,
  )
  await run('DELETE FROM task WHERE vault = $1', from)
}
