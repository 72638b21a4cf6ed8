/** The store in SQLite, whole: the heart, and everything that asks it about loops. */
import { type FSWatcher, watch } from 'node:fs'
import { iterationLimit } from '../engine/limits.ts'
import { type Loop, statusOf } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { isLocked } from './lock.ts'
import { beginningOf, openLoopStore, unknownLoop } from './loop-store.ts'
import { openDatabase } from './migrate.ts'
import { parse, type Row, readTotals, toEvent, toIteration, toLoopRow } from './rows.ts'
import type { Store } from './store.ts'
import { openTranscripts, type Transcripts } from './transcript.ts'

/** The store of one machine, with the transcripts that lie beside it. */
export type LocalStore = Store & {
  transcripts: Transcripts
  /** What ralph itself knows of the project whose files lie in a folder. Only its holder writes it. */
  loadProject(folder: string): unknown
  saveProject(folder: string, record: unknown): void
  /** Makes the loop of a vault's task, or takes one that there is, unless an earlier one is not over yet: then that one's id. */
  beginTask(loop: Loop, record: TaskRecord): string | undefined
  /** The newest loop of a task. */
  loadTask(vault: string, id: string): TaskRow | undefined
  listTasks(vault?: string): TaskRow[]
  /** Those that are not over, or whose end was not seen to, oldest first. */
  openTasks(vault: string): TaskRow[]
  /** Nothing happens where the task has a newer loop. */
  changeTask(task: TaskKey, change: (record: TaskRecord) => TaskRecord): void
  forgetTask(task: TaskKey): void
  /** A vault that was moved takes its tasks along. */
  moveTasks(from: string, to: string): void
  /** How many other loops in this folder were under way after `since`. One that only waits for a person is not. */
  overlapping(loop: string, dir: string, since: number): number
  /** What is wrong with the database file, in SQLite's words; undefined when nothing is. */
  selfCheck(): string | undefined
}

/** What is known of a vault's task besides its loop. */
export type TaskRecord = {
  progress?: { total: number; completed: number; step: string; at: number }
  exitReason?: string
  /** By which its file is known again under another name. */
  inode?: string
  bornAt?: number
  /** An agent has been set to work on it. */
  begun?: true
  /** Where its file was put when it had failed; null: there was none any more. */
  away?: string | null
  /** What it changed in the vault, once it is over; null: that could not be told. */
  files?: { created: number; modified: number } | null
}

export type TaskKey = { vault: string; id: string; loop: string }

/** `movedAt` and `events` are of its loop: when it last moved, and how often. */
export type TaskRow = TaskKey & {
  record: TaskRecord
  movedAt: number
  events: number
}

/** Opens the store below `home` and brings its tables up to date. */
export function openStore(
  home: string,
  now: () => number,
  transcripts: Transcripts = openTranscripts(home),
): LocalStore {
  const { asking, ...heart } = openLoopStore({ home, now, transcripts, open: openDatabase })
  const { run, all, one, transaction, mustHave } = asking
  return {
    ...heart,
    transcripts,

    async create(loop) {
      insert(loop)
      transcripts.begin(beginningOf(loop))
    },

    async tell(id, by, order) {
      mustHave(id)
      run('INSERT INTO told (loop, at, by, "order") VALUES (?, ?, ?, ?)', id, now(), by, JSON.stringify(order))
    },

    async find(name) {
      const rows = all(
        `SELECT id FROM loop WHERE substr(id, 1, ?) = ? ORDER BY started_at DESC LIMIT 6`,
        name.length,
        name,
      )
      const exact = rows.find((row) => row.id === name)
      if (exact) return name
      if (rows.length === 0 || !name) throw unknownLoop(name)
      if (rows.length > 1)
        throw new RalphError(
          'loop-unknown',
          `"${name}" is the beginning of several loops: ${rows.map((row) => row.id).join(', ')}. Give one more letter.`,
        )
      return String(rows[0]?.id)
    },

    async list({ dir, limit = 1_000 } = {}) {
      const rows =
        dir === undefined
          ? all('SELECT * FROM loop ORDER BY started_at DESC, rowid DESC LIMIT ?', limit)
          : all('SELECT * FROM loop WHERE dir = ? ORDER BY started_at DESC, rowid DESC LIMIT ?', dir, limit)
      return rows.map(toLoopRow)
    },

    async isDriven(id) {
      return isLocked(home, id)
    },

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

    async totals() {
      return readTotals(all)
    },

    async history() {
      return all(`SELECT iteration FROM loop WHERE status = 'completed' ORDER BY updated_at DESC LIMIT 200`).map(
        (row) => Number(row.iteration),
      )
    },

    onChange(listener) {
      // The watch wakes at once; the slow poll behind it covers file systems without one.
      const watcher = watchFolder(home, (name) => name?.startsWith('ralph.db') !== false && listener())
      const poll = setInterval(listener, 1_000)
      poll.unref()
      return () => {
        watcher?.close()
        clearInterval(poll)
      }
    },

    loadProject(folder) {
      const row = one('SELECT record FROM project WHERE folder = ?', folder)
      return row && parse(row.record)
    },

    saveProject(folder, record) {
      run(
        'INSERT OR REPLACE INTO project (folder, record, updated_at) VALUES (?, ?, ?)',
        folder,
        JSON.stringify(record),
        now(),
      )
    },

    beginTask(loop, record) {
      const { path, id } = loop.spec.work.vault ?? { path: '', id: '' }
      const isNew = one('SELECT id FROM loop WHERE id = ?', loop.id) === undefined
      const earlier = transaction(() => {
        const row = one(
          `SELECT loop.id FROM task JOIN loop ON loop.id = task.loop WHERE vault = ? AND task.id = ?
           AND status NOT IN ('completed', 'halted', 'cancelled')`,
          path,
          id,
        )
        if (row) return String(row.id)
        if (isNew) insert(loop)
        run(
          'INSERT OR REPLACE INTO task (vault, id, loop, record) VALUES (?, ?, ?, ?)',
          path,
          id,
          loop.id,
          JSON.stringify(record),
        )
        return undefined
      })
      if (earlier === undefined && isNew) transcripts.begin(beginningOf(loop))
      return earlier
    },

    loadTask(vault, id) {
      const row = one(`${TASKS} WHERE vault = ? AND task.id = ?`, vault, id)
      return row && toTask(row)
    },

    listTasks(vault) {
      const rows = vault === undefined ? all(TASKS) : all(`${TASKS} WHERE vault = ? ORDER BY started_at`, vault)
      return rows.map(toTask)
    },

    openTasks(vault) {
      return all(
        `${TASKS} WHERE vault = ? AND (status NOT IN ('completed', 'halted', 'cancelled') OR json_type(record, '$.files') IS NULL)
         ORDER BY started_at`,
        vault,
      ).map(toTask)
    },

    changeTask({ vault, id, loop }, change) {
      transaction(() => {
        const row = one('SELECT record FROM task WHERE vault = ? AND id = ? AND loop = ?', vault, id, loop)
        if (!row) return
        const record = JSON.stringify(change(parse<TaskRecord>(row.record)))
        run('UPDATE task SET record = ? WHERE vault = ? AND id = ?', record, vault, id)
      })
    },

    forgetTask({ vault, id, loop }) {
      run('DELETE FROM task WHERE vault = ? AND id = ? AND loop = ?', vault, id, loop)
    },

    moveTasks(from, to) {
      transaction(() => {
        run(
          `UPDATE loop SET dir = ?, spec = json_set(spec, '$.work.dir', ?, '$.work.vault.path', ?)
           WHERE json_extract(spec, '$.work.vault.path') = ?`,
          to,
          to,
          to,
          from,
        )
        // Of two tasks of one name the later one counts.
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
    },

    overlapping(loop, dir, since) {
      const row = one(
        `SELECT count(*) AS n FROM loop WHERE dir = ? AND id <> ?
         AND (updated_at > ? OR status NOT IN ('completed', 'halted', 'cancelled', 'needs-input', 'paused'))`,
        dir,
        loop,
        since,
      )
      return Number(row?.n)
    },

    selfCheck() {
      const found = String(one('PRAGMA quick_check(1)')?.quick_check)
      return found === 'ok' ? undefined : found
    },
  }

  function insert(loop: Loop): void {
    run(
      `INSERT INTO loop (id, dir, agent, prompt, spec, tally, next, status, iteration, iteration_limit, false_claims, tokens, cost_usd, started_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?, ?)`,
      loop.id,
      loop.spec.work.worktree?.from ?? loop.spec.work.dir,
      loop.spec.work.agent,
      loop.spec.prompt.slice(0, 500),
      JSON.stringify(loop.spec),
      JSON.stringify(loop.tally),
      JSON.stringify(loop.next),
      statusOf(loop),
      loop.tally.iteration,
      iterationLimit(loop.spec.limits, loop.tally),
      loop.tally.startedAt,
      loop.tally.startedAt,
    )
  }
}

const TASKS = 'SELECT task.*, loop.updated_at, loop.events FROM task JOIN loop ON loop.id = task.loop'

function toTask(row: Row): TaskRow {
  return {
    vault: String(row.vault),
    id: String(row.id),
    loop: String(row.loop),
    record: parse<TaskRecord>(row.record),
    movedAt: Number(row.updated_at),
    events: Number(row.events),
  }
}

/** Undefined where it cannot be watched: it is gone, or the system has no watch left to give. */
function watchFolder(path: string, changed: (name: string | null) => void): FSWatcher | undefined {
  try {
    return watch(path, { persistent: false }, (_, name) => changed(name)).on('error', () => {})
  } catch {
    return undefined
  }
}
