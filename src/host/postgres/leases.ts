/**
 * Leases in Postgres: a loop is driven as long as its lease lives, by the clock of the database. They are renewed here,
 * but only while their holders keep their promises: a holder that is stuck loses its loop although its process lives.
 */
import { isRalphError } from '../../error.ts'
import { mustHaveRow, thisProcess } from '../loop-store.ts'
import type { Lease, LoopStore } from '../store.ts'
import type { PgAsking } from './asking.ts'
import { bornHere, isGoneHere } from './born.ts'

/** How long an unrenewed lease lives. The fleet may set it once the database can be queried. */
export type Term = { ms: number }

/** `beat`: a lease was renewed. */
export type LeaseOptions = { term: Term; beat?: ((loop: string) => void) | undefined }

export type Leases = Pick<LoopStore, 'lease' | 'save'> & {
  /** Notifies those that have been taken over. */
  look(): Promise<void>
  /** Gives all back. */
  close(): Promise<void>
}

/** `until`: when its holder must show up at the latest, by a monotonic clock. */
type Holding = { lease: Lease; gone: AbortController; until: number }

/** A holder without a promise must show up within this time. */
const ALLOWANCE_MS = 2 * 60_000

export function openLeases(asking: PgAsking, save: LoopStore['save'], { term, beat }: LeaseOptions): Leases {
  const held = new Set<Holding>()
  const heartbeat = openHeartbeat(() => renew(asking, held, { term, beat }), term)
  const hold = (row: { id: string; epoch: number; updated_at: number }): Lease => {
    const gone = new AbortController()
    const expect = (ms: number) => {
      holding.until = performance.now() + ms
    }
    const release = async () => {
      held.delete(holding)
      if (held.size === 0) heartbeat.stop()
      await asking.all('UPDATE loop SET alive_until = NULL WHERE id = $1 AND epoch = $2', row.id, row.epoch)
    }
    const lease: Lease = { loop: row.id, epoch: row.epoch, movedAt: row.updated_at, lost: gone.signal, release, expect }
    const holding: Holding = { lease, gone, until: performance.now() + ALLOWANCE_MS }
    held.add(holding)
    heartbeat.start()
    return lease
  }
  return {
    async lease(id) {
      const take = (epoch: number | null) =>
        asking.transaction((inside) => inside.one(TAKE, id, thisProcess(), term.ms, bornHere(process.pid), epoch))
      const row = await take(null)
      if (row) return hold(mustHaveRow(id, row))
      const found = mustHaveRow(id, await asking.one('SELECT * FROM loop WHERE id = $1', id))
      // For a process of this machine there is no need to wait to know that it has ended.
      const left = isGoneHere(found.holder_born) ? await take(found.epoch) : undefined
      return left ? hold(mustHaveRow(id, left)) : { heldBy: found.holder || 'another process' }
    },

    async save(lease, loop, fact) {
      const holding = [...held].find((each) => each.lease === lease)
      try {
        await save(lease, loop, fact)
        if (holding) holding.until = performance.now() + ALLOWANCE_MS
      } catch (cause) {
        if (isRalphError(cause) && cause.code === 'lease-lost') holding?.gone.abort()
        throw cause
      }
    },

    look: () => look(asking, held),

    async close() {
      heartbeat.stop()
      await Promise.allSettled([...held].map(({ lease }) => lease.release()))
    },
  }
}

/** One statement, so that no two get it. `$5`: the epoch of a holder that has ended. */
const TAKE = `UPDATE loop SET epoch = epoch + 1, holder = $2, holder_born = $4,
  alive_until = now() + $3 * interval '1 millisecond'
  WHERE id = $1 AND (alive_until IS NULL OR alive_until < now() OR epoch = $5) RETURNING *`

const HELD = 'unnest($1::text[], $2::integer[]) AS held (id, epoch) WHERE loop.id = held.id AND loop.epoch = held.epoch'

async function renew(asking: PgAsking, held: ReadonlySet<Holding>, { term, beat }: LeaseOptions): Promise<void> {
  const now = performance.now()
  const busy = [...held].filter(({ until }) => now <= until)
  if (busy.length > 0) {
    const sql = `UPDATE loop SET alive_until = now() + $3 * interval '1 millisecond' FROM ${HELD} RETURNING loop.id`
    const rows = await asking.all(sql, ...keysOf(busy), term.ms) // doing it twice is the same as once
    for (const { id } of rows) beat?.(String(id))
  }
  await look(asking, held)
}

async function look(asking: PgAsking, held: ReadonlySet<Holding>): Promise<void> {
  const all = [...held]
  if (all.length === 0) return
  const rows = await asking.all(`SELECT loop.id FROM loop, ${HELD}`, ...keysOf(all))
  const mine = new Set(rows.map(({ id }) => id))
  // One that was given back meanwhile is not lost.
  for (const holding of all) if (held.has(holding) && !mine.has(holding.lease.loop)) holding.gone.abort()
}

function keysOf(held: readonly Holding[]): [ids: string[], epochs: number[]] {
  return [held.map(({ lease }) => lease.loop), held.map(({ lease }) => lease.epoch)]
}

/** One beat after the other, as long as there is something to renew. */
function openHeartbeat(beat: () => Promise<void>, term: Term): { start(): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined
  let isBeating = false
  const next = async () => {
    if (isBeating) return
    isBeating = true
    await beat().catch(() => {}) // an unreachable database is queried again
    isBeating = false
  }
  return {
    start() {
      timer ??= setInterval(() => void next(), term.ms / 3).unref()
    },
    stop() {
      clearInterval(timer)
      timer = undefined
    },
  }
}
