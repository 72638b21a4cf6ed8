/**
 * The core of the store in SQLite: what moving a loop needs. `ralph.db` is the truth, `locks/<loop>.db` proves that a
 * driver is alive.
 */
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Fact, Loop } from '../engine/loop.ts'
import { readOrder } from '../engine/stored.ts'
import { RalphError } from '../error.ts'
import { type Asking, openAsking } from './asking.ts'
import { makePrivateFolder } from './files.ts'
import { lockLoop, lockMark } from './lock.ts'
import { type Moved, writeFact } from './loop-writes.ts'
import { parse, type Row, type StoredLoop, toLoop } from './rows.ts'
import { sealFact } from './sealed.ts'
import type { Lease, LoopStore } from './store.ts'
import type { TurnRecords } from './transcript.ts'

type Opening = { home: string; now: () => number; transcripts: Recording; open: (path: string) => DatabaseSync }

/** Waits for free space to write a fact, if it can. */
type Recording = Omit<TurnRecords, 'addFact'> & {
  addFact(...given: Parameters<TurnRecords['addFact']>): void | Promise<void>
}

// Another program may have written something that is not JSON.
export const ORDER_KIND = `CASE json_valid("order") WHEN 1 THEN "order" ->> 'kind' END`

// On its own, the core reports a lost lease by refusing to save; the store around it watches, and has a signal for it.
const NEVER = new AbortController().signal

export type Core = LoopStore & {
  /** For what is built around the core. */
  asking: Asking
  /** Whether somebody else has the loop by now. */
  isTaken(lease: Pick<Lease, 'loop' | 'epoch'>): boolean
}

export function openLoopStore({ home, now, transcripts, open }: Opening): Core {
  makePrivateFolder(join(home, 'locks'))
  const asking = openAsking(join(home, 'ralph.db'), open)
  const { one } = asking
  const { driven, mine } = openDriven()
  const isTaken: Core['isTaken'] = (lease) => {
    if (one('SELECT epoch FROM loop WHERE id = ?', lease.loop)?.epoch === lease.epoch) return false
    const mark = mine(lease)?.mark
    return mark === undefined || lockMark(home, lease.loop) !== mark
  }
  return {
    transcripts,
    asking,
    isTaken,
    close: async () => asking.close(),
    load: async (id) => toLoop(mustHave(asking, id)),
    sealed: (fact) => sealFact(home, fact),

    async lease(id, patienceMs) {
      asking.repair()
      mustHave(asking, id)
      const lock = lockLoop(home, id, patienceMs)
      if (!lock) return { heldBy: mustHave(asking, id).holder || 'another process' }
      try {
        const row = takeOver(asking, id)
        await addMissingFacts(asking, transcripts, row)
        driven.set(id, { epoch: row.epoch, row, iterations: row.iteration, mark: lockMark(home, id) })
        const release = async () => {
          if (mine({ loop: id, epoch: row.epoch })) driven.delete(id)
          lock.close()
        }
        return { loop: id, epoch: row.epoch, movedAt: row.updated_at, lost: NEVER, release }
      } catch (cause) {
        lock.close()
        throw cause
      }
    },

    async save(lease, loop, fact) {
      const known = mine(lease)
      const write = writer(asking, { lease, known, isTaken }, { loop, fact })
      const row = write()
      await transcripts.addFact(loop.id, row.events, fact)
      // The file was removed meanwhile. Another process may have restored it: nothing is written twice.
      if (asking.isGone()) write()
      if (known) Object.assign(known, { row, iterations: Math.max(known.iterations, row.iteration) })
    },

    async nextOrder(id) {
      const row = one(`SELECT * FROM told WHERE loop = ? ORDER BY ${ORDER_KIND} <> 'cancel', id LIMIT 1`, id)
      const order = row && readOrder(String(row.order))
      return order && { kind: 'told', at: now(), by: String(row.by), order, id: Number(row.id) }
    },
  }
}

type Writing = { lease: Lease; known: Driven | undefined; isTaken: Core['isTaken'] }

/** Writes a fact, in one transaction. Called again, it writes exactly the same. */
function writer(asking: Asking, { lease, known, isTaken }: Writing, moved: Moved): () => StoredLoop {
  let before: Pick<Driven, 'row' | 'iterations'> | undefined = known
  return () =>
    asking.transaction(() => {
      if (isTaken(lease)) throw takenOver(lease.loop)
      const found = mustHave(asking, lease.loop)
      before ??= { row: found, iterations: found.iteration }
      const { row, iterations } = before
      return writeFact(asking, { found, before: row, iterations, epoch: lease.epoch }, moved)
    })
}

export function takenOver(id: string): RalphError {
  return new RalphError(
    'lease-lost',
    `Another ralph process has taken over loop ${id}; what this one did since then is not recorded.`,
  )
}

type Driven = { epoch: number; row: StoredLoop; iterations: number; mark: number | undefined }

/** A loop is what its driver knows. What an agent writes to the database meanwhile does not count. */
function openDriven(): {
  driven: Map<string, Driven>
  mine(lease: Pick<Lease, 'loop' | 'epoch'>): Driven | undefined
} {
  const driven = new Map<string, Driven>()
  return {
    driven,
    mine({ loop, epoch }) {
      const known = driven.get(loop)
      return known?.epoch === epoch ? known : undefined
    },
  }
}

export function thisProcess(): string {
  return `process ${process.pid} on ${hostname()}`
}

/** One statement, so that no two callers get the same epoch. */
function takeOver({ one }: Asking, id: string): StoredLoop {
  return one('UPDATE loop SET epoch = epoch + 1, holder = ? WHERE id = ? RETURNING *', thisProcess(), id) as StoredLoop
}

/** Facts in the database that are missing in the transcript: ralph was killed between the two writes. */
async function addMissingFacts({ all }: Asking, transcripts: Recording, row: StoredLoop): Promise<void> {
  const loop = toLoop(row)
  const last = transcripts.lastFact(loop.id)
  if (last < 0) transcripts.begin(beginningOf(loop))
  for (const { n, fact } of all('SELECT * FROM event WHERE loop = ? AND n > ? ORDER BY n', loop.id, last))
    await transcripts.addFact(loop.id, Number(n), parse<Fact>(fact, `loop ${loop.id}`))
}

export function mustHave({ one }: Asking, id: string): StoredLoop {
  return mustHaveRow(id, one('SELECT * FROM loop WHERE id = ?', id))
}

export function mustHaveRow(id: string, row: Row | undefined): StoredLoop {
  if (!row) throw unknownLoop(id)
  return row as StoredLoop
}

export function unknownLoop(name: string): RalphError {
  return new RalphError('loop-unknown', `No such loop: ${name}. \`ralph status --all\` lists all loops.`)
}

export function beginningOf({ id, spec, tally, next }: Loop): Parameters<TurnRecords['begin']>[0] {
  const queued = next.kind === 'wait' && next.why === 'queued' ? { queued: true as const } : {}
  return { id, spec, at: tally.startedAt, tree: tally.startTree, graded: true, ...queued }
}
