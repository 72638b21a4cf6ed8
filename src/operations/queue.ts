/** The queue of the board: which loops want to run, and which process serves it. */
import type { Status } from '../engine/loop.ts'
import { isLocked } from '../host/lock.ts'
import { SERVER_LOCK } from '../host/server-file.ts'
import type { LoopRow, NamedLock, Store } from '../host/store.ts'
import { given } from '../request/given.ts'
import type { Context } from './operation.ts'

const QUEUE = 'workers'

/** Held by the process that serves the queue. `yields`: it lets a starting server of this home take over. */
export function openQueueLock({ store, home }: Pick<Context, 'store' | 'home'>, yields: boolean): NamedLock {
  const lock = store().locks.open(QUEUE)
  return {
    close: lock.close,
    async hold() {
      if (!yields || !isLocked(home, SERVER_LOCK)) return lock.hold()
      await lock.close()
      return false
    },
  }
}

/** Whether a live process serves the queue: waiting loops then continue by themselves. */
export function hasQueue(store: Pick<Store, 'locks'>): Promise<boolean> {
  return store.locks.isHeld(QUEUE)
}

/** `place`: no two loops may work there at once, because each would mistake the other's changes for its own. */
export type Due = { loop: string; place?: string }

/** Started loops come first, then answered ones, then the queue. */
export async function dueLoops(store: Store, now: number): Promise<Due[]> {
  const begun = (await openLoops(store, ['running', 'verifying', 'waiting'], 'board')).reverse()
  const ordered = new Set(await store.ordered())
  const answered = await answeredLoops(store, ordered)
  const busy = await busyPlaces(store)
  const isFree = (place: string | null | undefined) => !place || !busy.has(place)
  const due: Due[] = []
  for (const { id, next } of [...begun, ...answered]) {
    const isEarly = next.kind === 'wait' && next.until !== undefined && next.until > now && !ordered.has(id)
    if (!isEarly && !(await store.isDriven(id))) due.push(await dueAt(store, id))
  }
  const queued = (await store.board.queue()).filter(({ place }) => isFree(place))
  return [
    ...due.filter(({ place }) => isFree(place)),
    ...queued.map(({ loop, place }) => ({ loop, ...given({ place: place ?? undefined }) })),
  ]
}

/** Messages to a queued loop are for its first turn; only a resume starts it early. */
async function answeredLoops(store: Store, ordered: ReadonlySet<string>): Promise<LoopRow[]> {
  if (ordered.size === 0) return []
  const resumed = new Set(await store.ordered('resume'))
  const resting = await openLoops(store, ['paused', 'needs-input'], 'board')
  const queued = resumed.size > 0 ? await openLoops(store, ['queued'], 'board') : []
  return [...resting.filter(({ id }) => ordered.has(id)), ...queued.filter(({ id }) => resumed.has(id))]
}

/** The folders and repositories in use right now, by any loop. */
async function busyPlaces(store: Store): Promise<Set<string>> {
  const places = new Set<string>()
  for (const { id } of await openLoops(store, ['running', 'verifying', 'waiting'])) {
    const { place } = await dueAt(store, id)
    if (place !== undefined && (await store.isDriven(id))) places.add(place)
  }
  return places
}

/** A loop, and where it works. */
export async function dueAt(store: Store, loop: string): Promise<Due> {
  const { worktree, gitDir, dir } = (await store.load(loop)).spec.work
  return { loop, ...(worktree ? {} : { place: gitDir ?? dir }) }
}

/** The loops that `by` paused. */
export async function pausedBy(store: Store, by: string): Promise<string[]> {
  const paused: string[] = []
  for (const { id } of await openLoops(store, ['paused'])) {
    const pauses = (await store.events(0, id)).flatMap(({ fact }) =>
      fact.kind === 'told' && fact.order.kind === 'pause' ? fact.by : [],
    )
    if (pauses.at(-1) === by) paused.push(id)
  }
  return paused
}

async function openLoops(store: Store, status: readonly Status[], owner?: LoopRow['owner']): Promise<LoopRow[]> {
  const loops: LoopRow[] = []
  for (let after: string | undefined, isLast = false; !isLast; ) {
    const { rows, next } = await store.list({ status, ...given({ owner, after }) })
    loops.push(...rows)
    after = next
    isLast = next === undefined
  }
  return loops
}
