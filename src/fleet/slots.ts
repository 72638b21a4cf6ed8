/** The slots of all workers in one pass: how many more tasks of each demand may be released. */
import { type Demand, demandsOf, type Pool, poolsOf } from './demand.ts'
import type { Needs } from './needs.ts'
import type { Picture } from './picture.ts'

export type Slots = {
  demandOf(needs: Needs): Demand
  /** Whether one more task would be refused. */
  isFull(demand: Demand): boolean
  /** Takes a slot for a task, or queues it for the next free one; false if neither is allowed. */
  take(demand: Demand): boolean
}

export function openSlots(picture: Picture): Slots {
  const pools = poolsOf(picture)
  const all = pools.reduce((sum, { slots }) => sum + slots, 0)
  const demandOf = demandsOf(picture, pools)
  const most = picture.readAhead ?? Math.min(Math.ceil(all / 8), MOST_AHEAD)
  let ahead = 0
  // No demand gets all of it, so that a queue whose workers are busy for hours does not keep the others from reading ahead.
  const mayWait = (demand: Demand) => ahead < most && demand.ahead < Math.ceil((most * demand.slots) / all)
  const wait = (demand: Demand) => {
    demand.ahead++
    ahead++
    return true
  }
  for (const demand of slotless(picture, demandOf)) takeSlot(demand) || wait(demand)
  return {
    demandOf,
    isFull: (demand) => demand.isSlotless && !mayWait(demand),
    take: (demand) => takeSlot(demand) || (mayWait(demand) && wait(demand)),
  }
}

/** Enough to keep every slot busy until the next pass, and few enough to decide fairness late. */
const MOST_AHEAD = 64

/**
 * Queued tasks need a slot, and so do tasks of dead workers, but not tasks that no worker can run now. In an
 * order that does not depend on the list.
 */
function slotless({ busy, workers }: Picture, demandOf: (needs: Needs) => Demand): Demand[] {
  const alive = new Set(workers.map(({ id }) => id))
  return busy
    .filter(({ state, worker }) => state === 'released' || (state === 'running' && !alive.has(worker ?? '')))
    .map(({ needs }) => demandOf(needs))
    .filter(({ trouble }) => !trouble)
    .sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
}

/**
 * Takes a free slot for a demand. If none of its pools has one, other tasks may move to another pool: a task that any
 * worker can run must not block one that only this worker can. If that does not help, nothing will for the rest of the
 * pass, since slots are only taken.
 */
function takeSlot(demand: Demand): boolean {
  if (demand.isSlotless) return false
  while ((demand.pools[demand.first]?.free ?? 1) === 0) demand.first++
  const pool = demand.pools[demand.first]
  if (!pool) return makeRoom(demand)
  pool.free--
  count(pool, demand, 1)
  return true
}

/** How a demand can make room: it gives up a slot of `pool`, which `from` takes. */
type Move = { from: Demand; pool: Pool }

function makeRoom(newcomer: Demand): boolean {
  const moves = new Map<Demand, Move | undefined>([[newcomer, undefined]])
  const seen = new Set<Pool>()
  for (const [from] of moves)
    for (const pool of from.pools) {
      if (pool.free > 0) {
        moveAll(from, pool, moves)
        return true
      }
      if (seen.has(pool)) continue
      seen.add(pool)
      for (const demand of pool.taken.keys())
        if (!demand.isSlotless && !moves.has(demand)) moves.set(demand, { from, pool })
    }
  // The tasks that could move have nowhere to go either.
  for (const demand of moves.keys()) demand.isSlotless = true
  return false
}

function moveAll(last: Demand, free: Pool, moves: ReadonlyMap<Demand, Move | undefined>): void {
  free.free--
  count(free, last, 1)
  let demand = last
  for (let move = moves.get(demand); move; move = moves.get(demand)) {
    count(move.pool, demand, -1)
    count(move.pool, move.from, 1)
    demand = move.from
  }
}

function count(pool: Pool, demand: Demand, more: number): void {
  const taken = (pool.taken.get(demand) ?? 0) + more
  if (taken > 0) pool.taken.set(demand, taken)
  else pool.taken.delete(demand)
}
