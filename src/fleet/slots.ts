/** The slots of all workers in one pass: how many more tasks of each set of needs may be released to them. */
import { type Demand, demandsOf, type Pool, poolsOf } from './demand.ts'
import type { Needs } from './needs.ts'
import type { Picture } from './picture.ts'

export type Slots = {
  /** What is known about the slots for these needs. */
  of(needs: Needs): Demand
  /** Sets a slot aside for one task, or lets it wait in the queue for the next one. False: it has to wait outside. */
  take(demand: Demand): boolean
}

export function openSlots(picture: Picture): Slots {
  const of = demandsOf(picture, poolsOf(picture))
  for (const demand of slotless(picture, of)) if (!takeSlot(demand)) demand.ahead++
  return {
    of,
    take(demand) {
      if (!demand.isFull && takeSlot(demand)) return true
      if (demand.ahead >= demand.most) demand.isFull = true
      else demand.ahead++
      return !demand.isFull
    },
  }
}

/** What is in the queue needs a slot, and so does what ran on a worker that is gone. In an order of its own. */
function slotless({ busy, workers }: Picture, of: Slots['of']): Demand[] {
  const alive = new Set(workers.map(({ id }) => id))
  return busy
    .filter(({ state, worker }) => state === 'released' || (state === 'running' && !alive.has(worker ?? '')))
    .map(({ needs }) => of(needs))
    .sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
}

/**
 * Takes a free slot for a demand. Where none of its pools has one, other tasks may move to another pool: a task that any
 * worker can run must not keep out one that only this worker can. If that does not help, nothing will for the rest of the
 * pass, since slots are only taken.
 */
function takeSlot(demand: Demand): boolean {
  if (demand.hasNoSlot) return false
  while ((demand.pools[demand.first]?.free ?? 1) === 0) demand.first++
  const pool = demand.pools[demand.first]
  if (pool) {
    pool.free--
    count(pool, demand, 1)
    return true
  }
  demand.hasNoSlot = !makeRoom(demand)
  return !demand.hasNoSlot
}

/** How a demand can make room: it gives up a slot of `pool`, and `from` takes that. */
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
      for (const demand of pool.taken.keys()) if (!moves.has(demand)) moves.set(demand, { from, pool })
    }
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
