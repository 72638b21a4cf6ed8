/** The tasks of the board and their groups, in SQLite. */
import type { BoardGroup, BoardTask } from '../formats/board-task.ts'
import type { Asking } from './asking.ts'
import { tellNew } from './comment-records.ts'
import { beginningOf } from './loop-store.ts'
import { type Condition, oneOf, readPage } from './paging.ts'
import { type Columns, parse, type Row, readable, toNewColumns } from './rows.ts'
import type { BoardChange, BoardFilter, BoardPage, BoardRecords } from './store.ts'
import type { TurnRecords } from './transcript.ts'

export const PORTION = 500

type Around = { now: () => number; transcripts: TurnRecords }

export function boardRecords(asking: Asking, around: Around): BoardRecords {
  return { ...tasks(asking, around), ...groups(asking, around), ...changes(asking) }
}

type Tasks = Pick<BoardRecords, 'create' | 'load' | 'list' | 'save' | 'begin' | 'queue' | 'remove'>

function tasks(asking: Asking, { now, transcripts }: Around): Tasks {
  const { one, run, insert, transaction } = asking
  const tell = (change: BoardChange['change']) => tellChange(asking, now(), change)
  const save = (task: BoardTask) => saveTask(asking, task, now())
  return {
    async create(task) {
      transaction(() => {
        insert('board_task', { id: task.id, ...toTaskColumns(task) })
        tell({ kind: 'task', task })
      })
    },

    async load(id) {
      const row = one('SELECT * FROM board_task WHERE id = ?', id)
      return row && toTask(row)
    },

    list: async (filter = {}) => listTasks(asking, filter),

    save: async (task, mustHold) =>
      transaction(() => {
        mustHold?.(allTasks(asking))
        return save(task)
      }),

    async begin(task, loop, first = []) {
      const begun = transaction(() => {
        const saved = save(task)
        if (!saved) return undefined
        insert('loop', toNewColumns(loop))
        tellNew(asking, loop.id, first, now())
        return saved
      })
      if (begun) transcripts.begin(beginningOf(loop))
      return begun
    },

    queue: async () => asking.all(QUEUE).map((row) => ({ loop: String(row.id), place: row.place as string | null })),

    async remove(id, version, mustHold) {
      return transaction(() => {
        mustHold?.(allTasks(asking))
        if (one('SELECT version FROM board_task WHERE id = ?', id)?.version !== version) return false
        run('DELETE FROM board_task WHERE id = ?', id)
        tell({ kind: 'task-removed', id })
        return true
      })
    },
  }
}

/** A dependency that was deleted is no longer waited for. */
const QUEUE = `SELECT loop.id, CASE WHEN json_valid(loop.spec) = 0 THEN loop.dir WHEN json_type(loop.spec, '$.work.worktree') IS NULL
    THEN coalesce(json_extract(loop.spec, '$.work.gitDir'), loop.dir) END AS place
  FROM loop LEFT JOIN board_task AS task ON task.loop = loop.id
  WHERE loop.status = 'queued' AND loop.owner = 'board' AND NOT EXISTS (
    SELECT 1 FROM json_each(CASE json_valid(task.record) WHEN 1 THEN task.record ELSE '{}' END, '$.depends_on') AS name JOIN board_task AS other ON other.id = name.value
    WHERE other.status <> 'done')
  ORDER BY coalesce(task.priority, 0) DESC, loop.started_at, loop.rowid`

/** Inside a transaction. */
function saveTask(asking: Asking, task: BoardTask, at: number): BoardTask | undefined {
  const next = nextVersion(task, at)
  const columns = toTaskColumns(next)
  const changed = asking.one(
    `UPDATE board_task SET ${Object.keys(columns).map((name) => `"${name}" = ?`)} WHERE id = ? AND version = ? RETURNING id`,
    ...Object.values(columns),
    task.id,
    task.version,
  )
  if (!changed) return undefined
  tellChange(asking, at, { kind: 'task', task: next })
  return next
}

export function nextVersion(task: BoardTask, at: number): BoardTask {
  return { ...task, version: task.version + 1, updated_at: new Date(at).toISOString() }
}

export function toTaskColumns(task: BoardTask): Columns {
  return {
    project_id: task.project_id,
    title: task.title,
    status: task.status,
    priority: task.priority,
    archived: Number(task.archived),
    loop: task.loop_id,
    version: task.version,
    created_at: Date.parse(task.created_at),
    record: JSON.stringify(task),
  }
}

export function toTask(row: Row): BoardTask {
  return parse<BoardTask>(row.record, `task ${row.id} of the board`)
}

function allTasks({ all }: Asking): BoardTask[] {
  return readable(all('SELECT * FROM board_task'), toTask)
}

function listTasks(asking: Asking, { limit, after, ...filter }: BoardFilter): BoardPage {
  const paging = { table: 'board_task', time: 'created_at', limit, after }
  const { rows, ...next } = readPage(asking, taskConditions(filter, TEXT), paging)
  return { tasks: readable(rows, toTask), ...next }
}

const TEXT = `instr(lower(title || ' ' || coalesce(CASE json_valid(record) WHEN 1 THEN json_extract(record, '$.description') END, '')), lower(?)) > 0`

/** `contains`: text that the title or the description must contain. */
export function taskConditions(
  { status, project_id, archived, text, loop }: BoardFilter,
  contains: string,
): Condition[] {
  const conditions: Condition[] = []
  if (status) conditions.push(oneOf('status', status))
  if (project_id !== undefined) conditions.push({ sql: 'project_id = ?', values: [project_id] })
  if (archived !== undefined) conditions.push({ sql: 'archived = ?', values: [Number(archived)] })
  if (loop !== undefined) conditions.push({ sql: 'loop = ?', values: [loop] })
  if (text !== undefined) conditions.push({ sql: contains, values: [text] })
  return conditions
}

function groups(asking: Asking, { now }: Around): Pick<BoardRecords, 'groups' | 'saveGroup'> {
  const { all, one, insert, transaction } = asking
  return {
    async groups() {
      return readable(all('SELECT * FROM board_group ORDER BY id'), toGroup)
    },
    async saveGroup(changed) {
      const { project_id: id } = changed
      return transaction(() => {
        const known = one('SELECT * FROM board_group WHERE id = ?', id)
        const group = changedGroup(known, changed)
        insert('board_group', { id, record: JSON.stringify(group) }, 'REPLACE')
        tellChange(asking, now(), { kind: 'group', group })
        return group
      })
    },
  }
}

export function toGroup(row: Row): BoardGroup {
  return parse<BoardGroup>(row.record, `group ${row.id} of the board`)
}

/** `known`: its row, if there is one. */
export function changedGroup(known: Row | undefined, changed: Parameters<BoardRecords['saveGroup']>[0]): BoardGroup {
  return { name: changed.project_id, repo: null, ...(known ? toGroup(known) : {}), ...changed }
}

function changes({ all, run }: Asking): Pick<BoardRecords, 'changes' | 'prune'> {
  return {
    async changes(after) {
      const rows = all('SELECT * FROM board_change WHERE seq > ? ORDER BY seq LIMIT ?', after, PORTION)
      return readable(rows, toChange)
    },
    async prune(before) {
      run('DELETE FROM board_change WHERE at < ?', before)
    },
  }
}

export function toChange(row: Row): BoardChange {
  return { seq: Number(row.seq), at: Number(row.at), change: parse<BoardChange['change']>(row.change, 'the board') }
}

/** Runs inside the transaction that makes the change. */
function tellChange({ insert }: Asking, at: number, change: BoardChange['change']): void {
  insert('board_change', { at, change: JSON.stringify(change) })
}
