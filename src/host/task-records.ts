/** The tasks of vaults in SQLite. */
import type { Loop } from '../engine/loop.ts'
import type { Asking } from './asking.ts'
import { IS_OPEN } from './loop-queries.ts'
import { beginningOf } from './loop-store.ts'
import { parse, type Row, readable, toNewColumns } from './rows.ts'
import type { TaskKey, TaskRecord, TaskRecords, TaskRow } from './store.ts'
import type { TurnRecords } from './transcript.ts'

const TASKS = 'SELECT task.*, loop.updated_at, loop.events FROM task JOIN loop ON loop.id = task.loop'

export function taskRecords(asking: Asking, transcripts: TurnRecords): TaskRecords {
  const { run, all, one } = asking
  return {
    async begin(task, loop, record) {
      const begun = beginTask(asking, task, loop, record)
      if (begun === 'new') transcripts.begin(beginningOf(loop))
      return typeof begun === 'object' ? begun.earlier : undefined
    },

    async load(vault, id) {
      const row = one(`${TASKS} WHERE vault = ? AND task.id = ?`, vault, id)
      return row && toTask(row)
    },

    async list(vault) {
      const rows = vault === undefined ? all(TASKS) : all(`${TASKS} WHERE vault = ? ORDER BY started_at`, vault)
      return readable(rows, toTask)
    },

    async open(vault) {
      const files = `CASE json_valid(record) WHEN 1 THEN json_type(record, '$.files') END`
      const rows = all(`${TASKS} WHERE vault = ? AND (${IS_OPEN} OR ${files} IS NULL) ORDER BY started_at`, vault)
      return readable(rows, toTask)
    },

    change: async (task, patch) => patchRecord(asking, task, 'json_set', patch),
    fill: async (task, patch) => patchRecord(asking, task, 'json_insert', patch),

    async forget({ vault, id, loop }) {
      run('DELETE FROM task WHERE vault = ? AND id = ? AND loop = ?', vault, id, loop)
    },

    move: async (from, to) => moveTasks(asking, from, to),
  }
}

function beginTask(
  { one, insert, transaction }: Asking,
  { vault, id }: Pick<TaskKey, 'vault' | 'id'>,
  loop: Loop,
  record: TaskRecord,
): { earlier: string } | 'new' | 'known' {
  return transaction(() => {
    const row = one(
      `SELECT loop.id FROM task JOIN loop ON loop.id = task.loop WHERE vault = ? AND task.id = ? AND ${IS_OPEN}`,
      vault,
      id,
    )
    if (row) return { earlier: String(row.id) }
    const isNew = one('SELECT id FROM loop WHERE id = ?', loop.id) === undefined
    if (isNew) insert('loop', toNewColumns(loop))
    insert('task', { vault, id, loop: loop.id, record: JSON.stringify(record) }, 'REPLACE')
    return isNew ? 'new' : 'known'
  })
}

/** One statement. Not json_patch, for which null means removal: here it is a value. */
function patchRecord({ run }: Asking, task: TaskKey, how: 'json_set' | 'json_insert', patch: TaskRecord): void {
  const entries = Object.entries(patch).filter(([, value]) => value !== undefined)
  if (entries.length === 0) return
  run(
    `UPDATE task SET record = ${how}(record${entries.map(([name]) => `, '$.${name}', json(?)`).join('')})
     WHERE vault = ? AND id = ? AND loop = ?`,
    ...entries.map(([, value]) => JSON.stringify(value)),
    task.vault,
    task.id,
    task.loop,
  )
}

function moveTasks({ run, transaction }: Asking, from: string, to: string): void {
  transaction(() => {
    // Of two tasks with one name the later one counts.
    run(
      `DELETE FROM task WHERE vault = ? AND EXISTS (
         SELECT 1 FROM task AS other JOIN loop AS theirs ON theirs.id = other.loop
         WHERE other.vault = ? AND other.id = task.id
         AND theirs.started_at > (SELECT started_at FROM loop WHERE loop.id = task.loop))`,
      to,
      from,
    )
    run('UPDATE OR IGNORE task SET vault = ? WHERE vault = ?', to, from)
    run('DELETE FROM task WHERE vault = ?', from)
  })
}

export function toTask(row: Row): TaskRow {
  return {
    vault: String(row.vault),
    id: String(row.id),
    loop: String(row.loop),
    record: parse<TaskRecord>(row.record, `task ${row.id} of ${row.vault}`),
    movedAt: Number(row.updated_at),
    events: Number(row.events),
  }
}
