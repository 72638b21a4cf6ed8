/** The slots of all workers in one pass: how many more tasks of each set of needs may be released to them. */
import { type Demand, demandsOf, type Pool, poolsOf } from './demand.ts'
import type { Needs } from './needs.ts'
import type { Picture } from './picture.ts'

/** Looks up what is known about the slots for a set of needs, once the tasks in the queue have been given theirs. */
export function openSlots(picture: Picture): (needs: Needs) => Demand {
  const demandOf = demandsOf(picture, poolsOf(picture))
  for (const demand of slotless(picture, demandOf)) takeRoom(demand)
  return demandOf
}

/** What is in the queue needs a slot, and so does what ran on a worker that is gone. In an order of its own. */
function slotless({ busy, workers }: Picture, demandOf: (needs: Needs) => Demand): Demand[] {
  const alive = new Set(workers.map(({ id }) => id))
  return busy
    .filter(({ state, worker }) => state === 'released' || (state === 'running' && !alive.has(worker ?? '')))
    .map(({ needs }) => demandOf(needs))
    .sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
}

/**
 * Takes room for one task; false when there is none. Where none of its pools has room, other tasks may move to another
 * pool: a task that any worker can run must not keep out one that only this worker can. If that does not help, nothing will
 * for the rest of the pass, since room is only taken.
 */
export function takeRoom(demand: Demand): boolean {
  if (demand.isFull) return false
  while ((demand.pools[demand.first]?.room ?? 1) === 0) demand.first++
  const pool = demand.pools[demand.first]
  if (!pool) return makeRoom(demand)
  pool.room--
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
      if (pool.room > 0) {
        moveAll(from, pool, moves)
        return true
      }
      if (seen.has(pool)) continue
      seen.add(pool)
      for (const demand of pool.taken.keys())
        if (!demand.isFull && !moves.has(demand)) moves.set(demand, { from, pool })
    }
  // Whoever could be asked to move has nowhere to go either.
  for (const demand of moves.keys()) demand.isFull = true
  return false
}

function moveAll(last: Demand, free: Pool, moves: ReadonlyMap<Demand, Move | undefined>): void {
  free.room--
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
