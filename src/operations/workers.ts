/** Workers: drive loops in a long-running process, those of the board first, as many at a time as allowed. */
import { settleTasks } from '../board/owner.ts'
import { ended, type Loop, statusOf } from '../engine/loop.ts'
import { isRalphError } from '../error.ts'
import type { Store } from '../host/store.ts'
import { driveLoop } from './drive-loop.ts'
import { giveOrder } from './give-order.ts'
import { oneByOne } from './one-by-one.ts'
import type { Context, Workers } from './operation.ts'
import { type Due, dueAt, dueLoops, openQueueLock, pausedBy } from './queue.ts'

/** `say`: messages for the person watching the process. `yields`: a starting server takes over the queue. */
export type Working = { concurrency: number; say?: Say; yields?: boolean }

export type OpenWorkers = Workers & {
  /** Pauses all running loops and waits for that. The next process that serves the queue continues them. */
  stop(): Promise<void>
}

/** The name under which loops are paused and resumed when workers stop and start. */
const BY = 'server'

export function openWorkers(context: Context, { concurrency, say = () => {}, yields = false }: Working): OpenWorkers {
  const store = context.store()
  const ending = new AbortController()
  const queue = openQueueLock(context, yields)
  const room = openRoom(concurrency)
  const wanted = new Set<string>()
  let tookUp = false

  function start(due: Due): void {
    if (ending.signal.aborted) return
    wanted.delete(due.loop)
    void room.begin(due, work(context, due.loop, { stop: ending.signal, say })).then(looks.wake)
  }

  async function look(): Promise<void> {
    const isOurs = await queue.hold()
    // A loop requested by name starts even next to others; a loop of the board only in the process that serves the queue.
    for (const loop of wanted)
      if (!isOurs && (await isOfBoard(store, loop))) wanted.delete(loop)
      else if (room.hasPlaceFor(loop)) start(await dueAt(store, loop))
    if (!isOurs) tookUp = false
    if (!isOurs) return
    if (!tookUp) tookUp = await takeUp(context, wanted, say)
    if (room.isFull()) return // no need to know which are due
    for (const due of await dueLoops(store, context.now())) if (room.takes(due)) start(due)
  }

  const looks = oneByOne(
    () => (ending.signal.aborted ? Promise.resolve() : look()),
    (cause) => say(sentenceOf(cause)),
  )
  const unwatch = store.onChange(looks.wake)
  looks.wake()
  return {
    take(id) {
      wanted.add(id)
      looks.wake()
    },
    look: looks.wake,
    async stop() {
      if (ending.signal.aborted) return
      unwatch()
      const ids = room.loops()
      ending.abort()
      await looks.rest()
      await room.empty()
      const isOurs = await queue.hold()
      for (const id of ids)
        if (isOurs || !(await isOfBoard(store, id))) await pause(context, id).catch(reporting(id, say))
      await queue.close()
    },
  }
}

const LATER_MS = 10_000

type Room = {
  loops(): string[]
  isFull(): boolean
  /** Whether it may start when requested by name. */
  hasPlaceFor(loop: string): boolean
  /** Whether it may start by itself: not next to another loop in its place, nor right after a failure to drive it. */
  takes(due: Due): boolean
  /** `driven`: whether it could be driven. Resolves when its place is free again. */
  begin(due: Due, driven: Promise<boolean>): Promise<void>
  /** Resolves when nothing is running. */
  empty(): Promise<unknown>
}

/** The loops running here. */
function openRoom(concurrency: number): Room {
  const active = new Map<string, { done: Promise<void>; place?: string }>()
  /** Until when to leave alone loops that could neither be driven nor paused. */
  const later = new Map<string, number>()
  const isFull = () => active.size >= concurrency
  const hasPlaceFor = (loop: string) => !isFull() && !active.has(loop)
  const isBusy = (place: string) => [...active.values()].some((other) => other.place === place)
  return {
    isFull,
    hasPlaceFor,
    loops: () => [...active.keys()],
    takes: ({ loop, place }) =>
      hasPlaceFor(loop) && (later.get(loop) ?? 0) <= performance.now() && (place === undefined || !isBusy(place)),
    begin({ loop, ...place }, driven) {
      const done = driven.then((wasDriven) => {
        active.delete(loop)
        if (!wasDriven) later.set(loop, performance.now() + LATER_MS)
      })
      active.set(loop, { done, ...place })
      return done
    },
    empty: () => Promise.all([...active.values()].map(({ done }) => done)),
  }
}

/** Picks up what earlier workers left: unsettled tasks and paused loops. `wanted` gets those that no other process would continue. False: try again later. */
async function takeUp(context: Context, wanted: Set<string>, say: Say): Promise<boolean> {
  const store = context.store()
  try {
    await settleTasks({ store })
    for (const id of await pausedBy(store, BY)) {
      if (!(await isOfBoard(store, id))) wanted.add(id)
      await giveOrder(context, id, { kind: 'resume' }, { by: BY }).catch(reporting(id, say))
    }
    return true
  } catch (cause) {
    say(sentenceOf(cause))
    return false
  }
}

async function isOfBoard(store: Store, id: string): Promise<boolean> {
  return (await store.load(id)).spec.work.owner?.kind === 'board'
}

type Say = (text: string) => void

function reporting(id: string, say: Say): (cause: unknown) => void {
  return (cause) => say(`Loop ${id}: ${sentenceOf(cause)}`)
}

/** Whether it could be driven. */
async function work(context: Context, id: string, { stop, say }: { stop: AbortSignal; say: Say }): Promise<boolean> {
  try {
    // A loop of the board that waits for its agent makes room for others.
    const leavesWaits = await isOfBoard(context.store(), id)
    await driveLoop(context, id, { stop, begin: () => {}, show: () => {}, say, saw: () => {}, leavesWaits })
    return true
  } catch (cause) {
    reporting(id, say)(cause)
    const isElsewhere = isRalphError(cause) && (cause.code === 'loop-held' || cause.code === 'lease-lost')
    if (!isElsewhere) await pause(context, id, sentenceOf(cause)).catch(reporting(id, say))
    return false
  }
}

/** `why`: what kept us from driving it. A loop that is paused or has ended stays as it is. */
async function pause(context: Context, id: string, why?: string): Promise<void> {
  const loop = await context.store().load(id)
  if (ended(loop) || isResting(loop, why)) return
  await giveOrder(context, id, { kind: 'pause', ...(why === undefined ? {} : { why }) }, { by: why ? 'ralph' : BY })
}

/** A loop that cannot be driven must not stay in the queue. */
function isResting(loop: Loop, why: string | undefined): boolean {
  const status = statusOf(loop)
  return status === 'paused' || status === 'needs-input' || (status === 'queued' && why === undefined)
}

function sentenceOf(cause: unknown): string {
  if (isRalphError(cause)) return cause.message
  return `this is a bug in ralph: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`
}
