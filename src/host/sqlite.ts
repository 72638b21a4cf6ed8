/** The whole store in SQLite: its core, and all queries about loops, projects and tasks. */
import { type FSWatcher, watch } from 'node:fs'
import { RalphError } from '../error.ts'
import { answerRecords } from './answer-records.ts'
import { boardRecords } from './board-records.ts'
import { commentRecords, leaveOrder, tellNew } from './comment-records.ts'
import { damageIn } from './damage.ts'
import { openHome } from './files.ts'
import { isLocked, lockLoop } from './lock.ts'
import { loopNumbers } from './loop-numbers.ts'
import { loopQueries } from './loop-queries.ts'
import { beginningOf, type Core, mustHave, ORDER_KIND, openLoopStore } from './loop-store.ts'
import { openDatabase } from './migrate.ts'
import { overviewQueries } from './overview-queries.ts'
import { paneRecords } from './pane-records.ts'
import { waitWhileLocked } from './patient-store.ts'
import { projectRecords } from './project-records.ts'
import { reportRecords } from './report-records.ts'
import { sound, toNewColumns } from './rows.ts'
import { sealingStore } from './sealing-store.ts'
import { seenRecords } from './seen-records.ts'
import { waitForRoom } from './shortage.ts'
import type { Lease, Locks, LoopStore, Store } from './store.ts'
import { taskRecords } from './task-records.ts'
import { type LocalTranscripts, openTranscripts } from './transcript.ts'

/** The store of one machine, with the transcripts next to it. */
export type LocalStore = Store & { transcripts: LocalTranscripts }

/**
 * `patienceMs`: how long a call waits while another program locks the database. `fresh`: it is created although there
 * are transcripts. `note`: gets what a person should know.
 */
export type Opening = {
  transcripts?: LocalTranscripts
  patienceMs?: number
  fresh?: boolean
  note?: (text: string) => void
}

/** Opens the store below `home` and brings its tables up to date. */
export function openStore(home: string, now: () => number, opening: Opening = {}): LocalStore {
  const { patienceMs = PATIENCE_MS } = opening
  openHome(home, opening.note)
  const store = openImpatient(home, now, opening)
  return waitWhileLocked(store, { patienceMs, apart: ['transcripts', 'onChange', 'close', 'sealed', 'locks'] })
}

const PATIENCE_MS = 10_000

/** The whole process stands still while SQLite waits, so it waits only for a moment. */
const MOMENT_MS = 100

function openImpatient(home: string, now: () => number, { fresh, ...opening }: Opening): LocalStore {
  const { transcripts = openTranscripts(home) } = opening
  const { asking, isTaken, ...core } = openCore(home, now, { transcripts, fresh })
  const { insert, one, transaction } = asking
  const leases = watchedLeases({ ...core, asking, isTaken })
  const watching = sharedWatch(home, leases.look)
  return sealingStore(home, {
    ...core,
    load: async (id) => sound(await core.load(id)),
    ...loopQueries(asking),
    ...loopNumbers(asking),
    ...overviewQueries(asking),
    lease: leases.lease,
    save: leases.save,
    transcripts,
    projects: projectRecords(asking, now),
    tasks: taskRecords(asking, transcripts),
    panes: paneRecords(asking, { now, transcripts }),
    board: boardRecords(asking, { now, transcripts }),
    reports: reportRecords(asking),
    comments: commentRecords(asking, now),
    answers: answerRecords(asking, now),
    seen: seenRecords(asking),

    async create(loop, first = []) {
      transaction(() => {
        insert('loop', toNewColumns(loop))
        tellNew(asking, loop.id, first, now())
      })
      transcripts.begin(beginningOf(loop))
    },

    async tell(id, by, order) {
      mustHave(asking, id)
      transaction(() => leaveOrder(asking, id, { by, order }, now()))
    },

    async ordered(kind) {
      const such = `SELECT DISTINCT loop FROM told WHERE ?1 IS NULL OR ${ORDER_KIND} = ?1`
      return asking.all(such, kind ?? null).map((row) => String(row.loop))
    },

    async isDriven(id) {
      return isLocked(home, id)
    },

    onChange: watching,
    locks: locksIn(home),

    async selfCheck() {
      const found = String(one('PRAGMA quick_check(1)')?.quick_check)
      return found === 'ok' ? damageIn(asking) : found
    },
  })
}

type Making = { transcripts: LocalTranscripts; fresh: boolean | undefined }

function openCore(home: string, now: () => number, { transcripts, fresh }: Making): Core {
  return openLoopStore({
    home,
    now,
    // A saved fact is written down as soon as there is room to open its file.
    transcripts: { ...transcripts, addFact: (...given) => waitForRoom(async () => transcripts.addFact(...given)) },
    open(path) {
      const database = openDatabase(path, fresh)
      database.exec(`PRAGMA busy_timeout = ${MOMENT_MS}`)
      return database
    },
  })
}

/** Files next to the locks of loops: no loop has such a name. */
function locksIn(home: string): Locks {
  return {
    open(name) {
      let lock: ReturnType<typeof lockLoop>
      return {
        async hold() {
          lock ??= lockLoop(home, name, 0)
          return lock !== undefined
        },
        async close() {
          lock?.close()
          lock = undefined
        },
      }
    },
    isHeld: async (name) => isLocked(home, name),
  }
}

/** A process that has been taken over learns it at the next look, at the latest when it saves. */
function watchedLeases(core: Core): Pick<LoopStore, 'lease' | 'save'> & { look(): void } {
  const held = new Map<Lease, AbortController>()
  const lose = (lease: Lease) => held.get(lease)?.abort()
  return {
    async lease(id, patienceMs) {
      const answer = await core.lease(id, patienceMs)
      if ('heldBy' in answer) return answer
      const gone = new AbortController()
      const release = () => {
        held.delete(lease)
        return answer.release()
      }
      const lease: Lease = { ...answer, lost: gone.signal, release }
      held.set(lease, gone)
      return lease
    },

    async save(lease, loop, fact) {
      try {
        await core.save(lease, loop, fact)
      } catch (cause) {
        if (cause instanceof RalphError && cause.code === 'lease-lost') lose(lease)
        throw cause
      }
    },

    look() {
      try {
        core.asking.repair()
        for (const lease of held.keys()) if (core.isTaken(lease)) lose(lease)
      } catch {
        // A database that cannot be read now is noticed by the next save.
      }
    },
  }
}

/**
 * One watch for all listeners: with many loops in one process, each write would wake a watch of each. `first`: what is
 * done before they are notified.
 */
function sharedWatch(home: string, first: () => void): (listener: () => void) => () => void {
  const listeners = new Set<() => void>()
  const changed = () => {
    for (const each of [first, ...listeners]) each()
  }
  let unwatch = () => {}
  return (listener) => {
    const own = () => listener() // the same function may listen twice
    if (listeners.size === 0) unwatch = watchDatabase(home, changed)
    listeners.add(own)
    return () => {
      if (listeners.delete(own) && listeners.size === 0) unwatch()
    }
  }
}

/** The watch wakes at once, once for changes that come together; a slow poll covers file systems without one. */
function watchDatabase(home: string, changed: () => void): () => void {
  let waking: NodeJS.Timeout | undefined
  const wake = () => {
    waking ??= setTimeout(() => {
      waking = undefined
      changed()
    }, TOGETHER_MS)
  }
  const watcher = watchFolder(home, (name) => name?.startsWith('ralph.db') !== false && wake())
  const poll = setInterval(changed, 1_000)
  poll.unref()
  return () => {
    watcher?.close()
    clearInterval(poll)
    clearTimeout(waking)
  }
}

const TOGETHER_MS = 5

/** Undefined if it cannot be watched: it is missing, or the system has no watch left. */
function watchFolder(path: string, changed: (name: string | null) => void): FSWatcher | undefined {
  try {
    return watch(path, { persistent: false }, (_, name) => changed(name)).on('error', () => {})
  } catch {
    return undefined
  }
}
