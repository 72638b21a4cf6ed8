/** The store in SQLite, whole: the heart, and everything that asks it about loops, projects and tasks. */
import { type FSWatcher, watch } from 'node:fs'
import { RalphError } from '../error.ts'
import { isLocked } from './lock.ts'
import { loopQueries } from './loop-queries.ts'
import { beginningOf, type Heart, mustHave, openLoopStore } from './loop-store.ts'
import { openDatabase } from './migrate.ts'
import { paneRecords } from './pane-records.ts'
import { projectRecords } from './project-records.ts'
import { toNewColumns } from './rows.ts'
import type { Lease, LoopStore, Store } from './store.ts'
import { taskRecords } from './task-records.ts'
import { type LocalTranscripts, openTranscripts } from './transcript.ts'

/** The store of one machine, with the transcripts that lie beside it. */
export type LocalStore = Store & { transcripts: LocalTranscripts }

/** Opens the store below `home` and brings its tables up to date. */
export function openStore(
  home: string,
  now: () => number,
  transcripts: LocalTranscripts = openTranscripts(home),
): LocalStore {
  const { asking, isTaken, ...heart } = openLoopStore({ home, now, transcripts, open: openDatabase })
  const { insert, one } = asking
  const leases = watchedLeases({ ...heart, isTaken })
  return {
    ...heart,
    ...loopQueries(asking),
    lease: leases.lease,
    save: leases.save,
    transcripts,
    projects: projectRecords(asking, now),
    tasks: taskRecords(asking, transcripts),
    panes: paneRecords(asking, { now, transcripts }),

    async create(loop) {
      insert('loop', toNewColumns(loop))
      transcripts.begin(beginningOf(loop))
    },

    async tell(id, by, order) {
      mustHave(asking, id)
      insert('told', { loop: id, at: now(), by, order: JSON.stringify(order) })
    },

    async isDriven(id) {
      return isLocked(home, id)
    },

    onChange(listener) {
      return watchDatabase(home, () => {
        leases.look()
        listener()
      })
    },

    async selfCheck() {
      const found = String(one('PRAGMA quick_check(1)')?.quick_check)
      return found === 'ok' ? undefined : found
    },
  }
}

/** Who has been taken over learns it at the next look, at the latest when it saves. */
function watchedLeases(heart: Omit<Heart, 'asking'>): Pick<LoopStore, 'lease' | 'save'> & { look(): void } {
  const held = new Map<Lease, AbortController>()
  const lose = (lease: Lease) => held.get(lease)?.abort()
  return {
    async lease(id, patienceMs) {
      const answer = await heart.lease(id, patienceMs)
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
        await heart.save(lease, loop, fact)
      } catch (cause) {
        if (cause instanceof RalphError && cause.code === 'lease-lost') lose(lease)
        throw cause
      }
    },

    look() {
      try {
        for (const lease of held.keys()) if (heart.isTaken(lease)) lose(lease)
      } catch {
        // A database that cannot be read now is noticed by whoever saves next.
      }
    },
  }
}

/** The watch wakes at once; the slow poll behind it covers file systems without one. */
function watchDatabase(home: string, changed: () => void): () => void {
  const watcher = watchFolder(home, (name) => name?.startsWith('ralph.db') !== false && changed())
  const poll = setInterval(changed, 1_000)
  poll.unref()
  return () => {
    watcher?.close()
    clearInterval(poll)
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
