/** The store in SQLite, whole: the heart, and everything that asks it about loops. */
import { type FSWatcher, watch } from 'node:fs'
import { RalphError } from '../error.ts'
import { isLocked } from './lock.ts'
import { openLoopStore, unknownLoop } from './loop-store.ts'
import { openDatabase } from './migrate.ts'
import { parse, readTotals, toEvent, toIteration, toLoopRow } from './rows.ts'
import type { Store } from './store.ts'
import { openTranscripts, type Transcripts } from './transcript.ts'

/** The store of one machine, with the transcripts that lie beside it. */
export type LocalStore = Store & {
  transcripts: Transcripts
  /** What ralph itself knows of the project whose files lie in a folder. Only its holder writes it. */
  loadProject(folder: string): unknown
  saveProject(folder: string, record: unknown): void
  /** What is wrong with the database file, in SQLite's words; undefined when nothing is. */
  selfCheck(): string | undefined
}

/** Opens the store below `home` and brings its tables up to date. */
export function openStore(
  home: string,
  now: () => number,
  transcripts: Transcripts = openTranscripts(home),
): LocalStore {
  const { asking, ...heart } = openLoopStore({ home, now, transcripts, open: openDatabase })
  const { run, all, one } = asking
  return {
    ...heart,
    transcripts,

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
        ...[folder, JSON.stringify(record), now()],
      )
    },

    selfCheck() {
      const found = String(one('PRAGMA quick_check(1)')?.quick_check)
      return found === 'ok' ? undefined : found
    },
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
