/** Workers: they drive loops in a process that stays, the board's first, as many at a time as there is room for. */
import { settleTasks } from '../board/owner.ts'
import { ended, type Loop, statusOf } from '../engine/loop.ts'
import { isRalphError } from '../error.ts'
import type { Store } from '../host/store.ts'
import { driveLoop } from './drive-loop.ts'
import { giveOrder } from './give-order.ts'
import { oneByOne } from './one-by-one.ts'
import type { Context, Workers } from './operation.ts'
import { type Due, dueAt, dueLoops, openQueueLock, pausedBy } from './queue.ts'

/** `say`: what a person who watches the process should know. `yields`: a server that comes up takes the queue over. */
export type Working = { concurrency: number; say?: Say; yields?: boolean }

export type OpenWorkers = Workers & {
  /** Waits until all that is under way rests. Whoever has the queue goes on with it, or the next ones to come up. */
  stop(): Promise<void>
}

/** Who pauses and resumes loops when workers come and go. */
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
    // What somebody asks for by name begins beside others, too; a loop of the board with those who have the queue.
    for (const loop of wanted)
      if (!isOurs && (await isOfBoard(store, loop))) wanted.delete(loop)
      else if (room.hasPlaceFor(loop)) start(await dueAt(store, loop))
    if (!isOurs) tookUp = false
    if (!isOurs) return
    if (!tookUp) tookUp = await takeUp(context, wanted, say)
    if (room.isFull()) return // who is due need not be known
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
      for (const id of ids) if (isOurs || !(await isOfBoard(store, id))) await pause(context, id).catch(told(id, say))
      await queue.close()
    },
  }
}

const LATER_MS = 10_000

type Room = {
  loops(): string[]
  isFull(): boolean
  /** Whether somebody who asks for it by name may have it begun. */
  hasPlaceFor(loop: string): boolean
  /** Whether it may begin by itself: not beside another one in its place, nor right after it could not be driven. */
  takes(due: Due): boolean
  /** `driven`: whether it could be. Resolves when its place is free again. */
  begin(due: Due, driven: Promise<boolean>): Promise<void>
  /** Resolves when nothing is under way. */
  empty(): Promise<unknown>
}

/** The loops that are under way here. */
function openRoom(concurrency: number): Room {
  const active = new Map<string, { done: Promise<void>; place?: string }>()
  /** Until when what could not be driven is left alone, should it not even be possible to pause it. */
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

/** What earlier workers left: tasks that they did not move, and loops that they paused. `wanted` gets those that nobody else would go on with. False: to be tried again. */
async function takeUp(context: Context, wanted: Set<string>, say: Say): Promise<boolean> {
  const store = context.store()
  try {
    await settleTasks({ store })
    for (const id of await pausedBy(store, BY)) {
      if (!(await isOfBoard(store, id))) wanted.add(id)
      await giveOrder(context, id, { kind: 'resume' }, { by: BY }).catch(told(id, say))
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

function told(id: string, say: Say): (cause: unknown) => void {
  return (cause) => say(`Loop ${id}: ${sentenceOf(cause)}`)
}

/** Whether it could be driven. */
async function work(context: Context, id: string, { stop, say }: { stop: AbortSignal; say: Say }): Promise<boolean> {
  try {
    // A loop of the board that waits for its agent gives its room to others.
    const leavesWaits = await isOfBoard(context.store(), id)
    await driveLoop(context, id, { stop, begin: () => {}, show: () => {}, say, saw: () => {}, leavesWaits })
    return true
  } catch (cause) {
    told(id, say)(cause)
    const isElsewhere = isRalphError(cause) && (cause.code === 'loop-held' || cause.code === 'lease-lost')
    if (!isElsewhere) await pause(context, id, sentenceOf(cause)).catch(told(id, say))
    return false
  }
}

/** `why`: what kept us from driving it. A loop that rests or is over already stays as it is. */
async function pause(context: Context, id: string, why?: string): Promise<void> {
  const loop = await context.store().load(id)
  if (ended(loop) || isResting(loop, why)) return
  await giveOrder(context, id, { kind: 'pause', ...(why === undefined ? {} : { why }) }, { by: why ? 'ralph' : BY })
}

/** What cannot be driven must not stay in the queue. */
function isResting(loop: Loop, why: string | undefined): boolean {
  const status = statusOf(loop)
  return status === 'paused' || status === 'needs-input' || (status === 'queued' && why === undefined)
}

function sentenceOf(cause: unknown): string {
  if (isRalphError(cause)) return cause.message
  return `this is a bug in ralph: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`
}
