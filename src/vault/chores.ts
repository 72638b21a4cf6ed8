/** What a watcher does with one task: starts it, resumes it, or moves away what cannot be one. */
import { type ErrorCode, RalphError } from '../error.ts'
import type { TaskHead } from '../formats/task-file.ts'
import type { Lease, TaskRow } from '../host/store.ts'
import { putAway } from './approval.ts'
import type { VaultDesk } from './desk.ts'
import { earlierTask, formerTask } from './earlier.ts'
import { finishTask } from './ending.ts'
import { type Arrival, isUnchanged } from './inbox.ts'
import { NEEDS_ACTION } from './place.ts'
import type { VaultSettings } from './settings.ts'
import type { Crew } from './spec.ts'
import { stateFileOf } from './state-file.ts'
import { lockTask, type TaskLock } from './task-lock.ts'
import { repairHook, startTask } from './tasks.ts'
import { vaultOf } from './vault-task.ts'
import { type Carrying, driveVaultTask, type Site } from './work.ts'

export type WatchSite = Site & {
  /** Which agents work on a task; throws if the frontmatter names one that cannot. */
  crew: (head: TaskHead) => Crew
}

export type Chore = { id: string; run: () => Promise<void> }

/** The right to work on a task: the lock of its file and the lease of its loop. */
type Hold = { lock: TaskLock; lease: Lease }

/** What a watcher remembers between two looks, by loop id or file name. */
export type Ledger = {
  /** Loops that wait for a person, with their tasks. */
  waiting: Map<string, string>
  /** Loops that the user paused. They stay held, so that `ralph resume` leaves them to this watcher. */
  paused: Map<string, Hold>
  /** Loops whose file was found missing, or that ended elsewhere, and when that was seen. */
  doubtful: Map<string, number>
  /** What someone else is working on, and when to look again. */
  later: Map<string, number>
  /** Files to skip as long as they are unchanged: their stamps. */
  left: Map<string, string>
  /** Tasks with a problem that the user can fix. */
  troubled: Set<string>
  /** Whether this is the first look. */
  fresh: boolean
  /** How long a state must last to be more than a moment between two steps of someone else. */
  momentMs: number
  putOff(name: string): void
}

export function openLedger({ checkIntervalSeconds, quietSeconds }: VaultSettings): Ledger {
  const later = new Map<string, number>()
  return {
    waiting: new Map(),
    paused: new Map(),
    doubtful: new Map(),
    left: new Map(),
    later,
    troubled: new Set(),
    fresh: true,
    momentMs: quietSeconds * 1_000,
    putOff: (name) => void later.set(name, performance.now() + checkIntervalSeconds * 1_000),
  }
}

/** Starts a file that nobody is working on. */
export function begin(site: WatchSite, ledger: Ledger, arrival: Arrival): Promise<void> {
  const { desk, crew } = site
  const { file, id, stamp } = arrival
  return underLock(site, ledger, { id, name: file }, async (lock) => {
    if (!isUnchanged(desk.vault, arrival)) return 'done'
    const known = await knownAlready(desk, arrival)
    if (known === 'busy') ledger.putOff(file)
    if (known === 'over') ledger.left.set(file, stamp)
    if (known) return 'done'
    try {
      const loop = await startTask(desk, { file: `${NEEDS_ACTION}/${file}`, by: 'watch', crew })
      return await carry(site, ledger, { id, loop: loop.id, lock, again: false })
    } catch (cause) {
      if (!(cause instanceof RalphError && REFUSED.has(cause.code))) throw cause
      if (cause.code !== 'task-unknown') putAside(site, arrival, cause.message)
      return 'done'
    }
  })
}

/** The file itself or its settings are invalid, or it was removed. */
const REFUSED: ReadonlySet<ErrorCode> = new Set([
  ...(['input-invalid', 'usage', 'agent-unknown', 'agent-missing', 'task-unknown'] as const),
])

/** Notes why a file is skipped, if it is. */
async function knownAlready(desk: VaultDesk, arrival: Arrival): Promise<'busy' | 'over' | undefined> {
  const { note } = desk
  const { id, file } = arrival
  const former = await formerTask(desk, arrival)
  if (former !== undefined) {
    note(
      `${file} stays in ${NEEDS_ACTION}: it is the file of task ${former}, which has ended. To start it, move it out of the folder and back.`,
    )
    return 'over'
  }
  const earlier = await earlierTask(desk, arrival)
  if (!earlier) return undefined
  const { kind, loop, status } = earlier
  if (kind === 'busy' && !loop)
    note(
      `${file} is skipped: ${stateFileOf(desk, id)} says that another ralph is working on it. If that one no longer exists, delete ${stateFileOf(desk, id)}.`,
    )
  if (kind === 'busy') return kind
  note(endedWords(file, status))
  return kind
}

function endedWords(file: string, status: string): string {
  return `${file} stays in ${NEEDS_ACTION}: its task has ended (${status}). To run it again, move it out of the folder and back; if a finished task has the same file name, rename it first.`
}

/** Resumes a task that was started before. */
export function resumeTask(site: WatchSite, ledger: Ledger, row: TaskRow): Promise<void> {
  const hold = ledger.paused.get(row.loop)
  ledger.paused.delete(row.loop)
  return underLock(site, ledger, { id: row.id, name: row.loop, ...(hold ? { hold } : {}) }, async (lock) => {
    const { id, loop } = row
    const { store, vault } = site.desk
    const now = await store.tasks.load(vault, id)
    // Another watcher has ended it since the last look, and reported so.
    if (now?.loop !== loop || now.record.files !== undefined) return 'done'
    await repairHook(site.desk, await store.load(loop))
    return carry(site, ledger, { id, loop, lock, again: true, ...(hold ? { kept: hold.lease } : {}) })
  })
}

/** Finishes a task that waited here, or whose watcher was killed before it could. */
export function close(site: WatchSite, ledger: Ledger, { id, loop }: Pick<TaskRow, 'id' | 'loop'>): Promise<void> {
  return underLock(site, ledger, { id, name: loop }, async () => {
    const row = await site.desk.store.tasks.load(site.desk.vault, id)
    const isOpen = row?.loop === loop && row.record.files === undefined
    if (isOpen || ledger.waiting.delete(loop)) await finishTask(site, id)
    ledger.waiting.delete(loop)
    const after = await site.desk.store.tasks.load(site.desk.vault, id)
    if (after?.loop === loop && after.record.files === undefined) ledger.putOff(loop)
    else ledger.later.delete(vaultOf(await site.desk.store.load(loop)).file) // it may have waited for this
    return 'done'
  })
}

function putAside({ desk, tell }: WatchSite, { file, id }: Arrival, why: string): void {
  const from = `${NEEDS_ACTION}/${file}`
  try {
    const title = `${file} was not started`
    const place = putAway(desk.vault, { kind: 'refused', file, from, place: from, title, why, facts: [] })
    tell({ kind: 'refused', id, file, why, place: place ?? from })
  } catch (cause) {
    if (!(cause instanceof RalphError)) throw cause
    throw new RalphError(cause.code, `${why} ${cause.message}`, { cause })
  }
}

/** `id` is the task's, `loop` its loop's. */
type Task = Carrying & { id: string; lock: TaskLock }

/** `kept`: it is paused and still held. */
type Carried = 'done' | 'kept'

/** Anyone else who moves the loop, such as a person approving it, is quick: look again soon. */
async function carry(site: WatchSite, ledger: Ledger, { id, lock, ...carrying }: Task): Promise<Carried> {
  const { loop } = carrying
  const driven = await driveVaultTask(site, carrying)
  if (driven === 'held') {
    ledger.putOff(loop)
    return 'done'
  }
  if (driven.kept) {
    ledger.paused.set(loop, { lock, lease: driven.kept })
    site.tell({ kind: 'paused', loop: driven.loop })
    return 'kept'
  }
  if ((await finishTask(site, id)) === 'waiting_approval') ledger.waiting.set(loop, id)
  else ledger.waiting.delete(loop)
  return 'done'
}

/** `name` is what is postponed if someone else has the lock. */
type Locking = { id: string; name: string; hold?: Hold }

/** What the user can fix is reported, and tried again later. */
async function underLock(
  { desk }: WatchSite,
  ledger: Ledger,
  { id, name, hold }: Locking,
  work: (lock: TaskLock) => Promise<Carried>,
): Promise<void> {
  try {
    const lock = hold?.lock ?? lockTask(desk, id)
    if ('heldBy' in lock) return ledger.putOff(name)
    let carried: Carried = 'done'
    try {
      carried = await work(lock)
      ledger.troubled.delete(id)
    } finally {
      if (carried === 'done') lock.release()
    }
  } catch (cause) {
    if (!(cause instanceof RalphError)) throw cause
    ledger.putOff(name)
    ledger.troubled.add(id)
    desk.note(`${id}: ${cause.message}`)
  }
}
