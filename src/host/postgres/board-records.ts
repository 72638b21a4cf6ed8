/** The tasks of the board and their groups, in Postgres. Writers wait for each other. */
import type { BoardTask } from '../../formats/board-task.ts'
import {
  changedGroup,
  nextVersion,
  PORTION,
  taskConditions,
  toChange,
  toGroup,
  toTask,
  toTaskColumns,
} from '../board-records.ts'
import { readable } from '../rows.ts'
import type { BoardChange, BoardRecords } from '../store.ts'
import type { PgAsking, PgColumns } from './asking.ts'
import { tellNew } from './comment-records.ts'
import { holdCounter, insertNumbered } from './counter.ts'
import { insertLoop } from './loop-columns.ts'
import { contains, readPage } from './paging.ts'

export function boardRecords(asking: PgAsking, now: () => number): BoardRecords {
  return { ...readTasks(asking), ...writeTasks(asking, now), ...groups(asking, now), ...changes(asking) }
}

function readTasks(asking: PgAsking): Pick<BoardRecords, 'load' | 'list' | 'queue'> {
  return {
    async load(id) {
      const row = await asking.one('SELECT * FROM board_task WHERE id = $1', id)
      return row && toTask(row)
    },

    async list({ limit, after, ...filter } = {}) {
      const paging = { table: 'board_task', time: 'created_at', limit, after }
      const { rows, ...next } = await readPage(asking, taskConditions(filter, TEXT), paging)
      return { tasks: readable(rows, toTask), ...next }
    },

    queue: async () =>
      (await asking.all(QUEUE)).map((row) => ({ loop: String(row.id), place: row.place as string | null })),
  }
}

const TEXT = contains(`title || ' ' || description`)

/** A dependency that was deleted is no longer waited for. */
const QUEUE = `SELECT loop.id, loop.place FROM loop LEFT JOIN board_task AS task ON task.loop = loop.id
  WHERE loop.status = 'queued' AND loop.owner = 'board' AND NOT EXISTS (
    SELECT 1 FROM board_task AS other WHERE other.id = ANY (task.depends_on) AND other.status <> 'done')
  ORDER BY coalesce(task.priority, 0) DESC, loop.started_at, loop.seq`

function writeTasks(asking: PgAsking, now: () => number): Pick<BoardRecords, 'create' | 'save' | 'begin' | 'remove'> {
  const alone = <Result>(work: (inside: PgAsking) => Promise<Result>) => changingBoard(asking, work)
  return {
    create: (task) =>
      alone(async (inside) => {
        await inside.insert('board_task', { id: task.id, ...toPgTask(task) })
        await tellChange(inside, now(), { kind: 'task', task })
      }),

    save: (task, mustHold) =>
      alone(async (inside) => {
        mustHold?.(await allTasks(inside))
        return saveTask(inside, task, now())
      }),

    begin: (task, loop, first = []) =>
      alone(async (inside) => {
        const saved = await saveTask(inside, task, now())
        if (!saved) return undefined
        await insertLoop(inside, loop)
        await tellNew(inside, loop.id, first, now())
        return saved
      }),

    remove: (id, version, mustHold) =>
      alone(async (inside) => {
        mustHold?.(await allTasks(inside))
        const gone = await inside.one('DELETE FROM board_task WHERE id = $1 AND version = $2 RETURNING id', id, version)
        if (gone) await tellChange(inside, now(), { kind: 'task-removed', id })
        return gone !== undefined
      }),
  }
}

/**
 * Writers to the board get numbers one after the other anyway; with the lock held from the start, what was read stays
 * true.
 */
function changingBoard<Result>(asking: PgAsking, work: (inside: PgAsking) => Promise<Result>): Promise<Result> {
  return asking.transaction(async (inside) => {
    await holdCounter(inside, 'board')
    return work(inside)
  })
}

async function allTasks({ all }: PgAsking): Promise<BoardTask[]> {
  return readable(await all('SELECT * FROM board_task'), toTask)
}

async function saveTask(asking: PgAsking, task: BoardTask, at: number): Promise<BoardTask | undefined> {
  const next = nextVersion(task, at)
  const columns = toPgTask(next)
  const changed = await asking.one(
    `UPDATE board_task SET ${Object.keys(columns).map((name, index) => `"${name}" = $${index + 3}`)}
     WHERE id = $1 AND version = $2 RETURNING id`,
    task.id,
    task.version,
    ...Object.values(columns),
  )
  if (!changed) return undefined
  await tellChange(asking, at, { kind: 'task', task: next })
  return next
}

function toPgTask(task: BoardTask): PgColumns {
  return { ...toTaskColumns(task), description: task.description ?? '', depends_on: task.depends_on }
}

function groups(asking: PgAsking, now: () => number): Pick<BoardRecords, 'groups' | 'saveGroup'> {
  return {
    async groups() {
      return readable(await asking.all('SELECT * FROM board_group ORDER BY id'), toGroup)
    },
    saveGroup: (changed) =>
      changingBoard(asking, async (inside) => {
        const { project_id: id } = changed
        const group = changedGroup(await inside.one('SELECT * FROM board_group WHERE id = $1', id), changed)
        await inside.run(
          'INSERT INTO board_group VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET record = excluded.record',
          id,
          JSON.stringify(group),
        )
        await tellChange(inside, now(), { kind: 'group', group })
        return group
      }),
  }
}

function changes({ all, run }: PgAsking): Pick<BoardRecords, 'changes' | 'prune'> {
  return {
    async changes(after) {
      const rows = await all('SELECT * FROM board_change WHERE seq > $1 ORDER BY seq LIMIT $2', after, PORTION)
      return readable(rows, toChange)
    },
    prune: (before) => run('DELETE FROM board_change WHERE at < $1', before),
  }
}

/** Runs inside the transaction that makes the change. */
function tellChange(asking: PgAsking, at: number, change: BoardChange['change']): Promise<void> {
  return insertNumbered(asking, { table: 'board_change', counter: 'board' }, { at, change: JSON.stringify(change) })
}
