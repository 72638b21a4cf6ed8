/** The core of the store in Postgres: what moving a loop needs. */
import type { Fact, Loop } from '../../engine/loop.ts'
import { readOrder } from '../../engine/stored.ts'
import { isWeakened } from '../../engine/trials.ts'
import { mustHaveRow, takenOver } from '../loop-store.ts'
import { toIterationColumns, toVerdictRows } from '../loop-writes.ts'
import { parse, type StoredLoop, sound, toLoop } from '../rows.ts'
import type { Lease, Store } from '../store.ts'
import type { PgAsking } from './asking.ts'
import { isGoneHere } from './born.ts'
import type { Term } from './leases.ts'
import { insertEvent, toPgColumns } from './loop-columns.ts'

type Around = { now: () => number; term: Term }

export function loopStore(
  asking: PgAsking,
  { now, term }: Around,
): Pick<Store, 'load' | 'save' | 'nextOrder' | 'isDriven'> {
  return {
    load: async (id) => sound(toLoop(await mustHave(asking, id))),
    save: (lease, loop, fact) =>
      asking.transaction((inside) => writeFact(inside, { lease, leaseMs: term.ms }, loop, fact)),

    async nextOrder(id) {
      const row = await asking.one(`SELECT * FROM told WHERE loop = $1 ORDER BY kind <> 'cancel', id LIMIT 1`, id)
      const order = row && readOrder(String(row.order))
      return order && { kind: 'told', at: now(), by: String(row.by), order, id: Number(row.id) }
    },

    async isDriven(id) {
      const row = await asking.one('SELECT holder_born FROM loop WHERE id = $1 AND alive_until > now()', id)
      return row !== undefined && !isGoneHere(row.holder_born)
    },
  }
}

export async function mustHave({ one }: PgAsking, id: string): Promise<StoredLoop> {
  return mustHaveRow(id, await one('SELECT * FROM loop WHERE id = $1', id))
}

type Writing = { lease: Lease; leaseMs: number }

/** Runs inside a transaction. The row is locked first, so that nobody takes the loop over meanwhile. */
async function writeFact(asking: PgAsking, { lease, leaseMs }: Writing, loop: Loop, fact: Fact): Promise<void> {
  const { one, run, insert } = asking
  const before = mustHaveRow(lease.loop, await one('SELECT * FROM loop WHERE id = $1 FOR UPDATE', lease.loop))
  if (before.epoch !== lease.epoch) throw takenOver(lease.loop)
  await updateLoop(asking, { before, leaseMs }, loop, fact)
  if (fact.kind === 'turned' && loop.tally.iteration > before.iteration) {
    await insert('iteration', toIterationColumns(before, loop, fact))
    await arrive(asking, before, loop)
  }
  if (fact.kind === 'checked') await writeVerdicts(asking, loop, fact)
  if (fact.kind === 'told') await run('DELETE FROM told WHERE id = $1', fact.id ?? null)
  await insertEvent(asking, loop, fact, before.events + 1)
}

type Before = { before: StoredLoop; leaseMs: number }

/** Unchanged columns cost nothing, and neither do their indexes. A lease that was given back stays so. */
async function updateLoop({ run }: PgAsking, { before, leaseMs }: Before, loop: Loop, fact: Fact): Promise<void> {
  const after = { ...toPgColumns(loop), events: before.events + 1, updated_at: fact.at }
  const changed = Object.entries(after).filter(([name, value]) => !isSame(value, before[name]))
  await run(
    `UPDATE loop SET ${changed.map(([name], index) => `${name} = $${index + 3}`)},
     alive_until = CASE WHEN alive_until IS NULL THEN NULL ELSE now() + $2 * interval '1 millisecond' END WHERE id = $1`,
    loop.id,
    leaseMs,
    ...changed.map(([, value]) => value),
  )
}

function isSame(value: unknown, before: unknown): boolean {
  return Array.isArray(value) ? JSON.stringify(value) === JSON.stringify(before) : value === before
}

/**
 * A driver that takes turns elsewhere, as a session does, only reports that one has ended: then what that turn received
 * has arrived.
 */
async function arrive({ run }: PgAsking, before: StoredLoop, { id, tally }: Loop): Promise<void> {
  const { comments = [] } = parse<{ comments?: number[] }>(before.next, `loop ${id}`)
  if (comments.length > 0)
    await run(
      'UPDATE comment SET delivered = $1 WHERE hearer = $2 AND delivered IS NULL AND id = ANY ($3)',
      tally.iteration,
      id,
      comments,
    )
}

type Checked = Fact & { kind: 'checked' }

async function writeVerdicts({ run, insert }: PgAsking, { id, tally }: Loop, { verdicts }: Checked): Promise<void> {
  const { iteration, findings } = tally
  await run(
    'DELETE FROM check_result WHERE loop = $1 AND iteration = $2 AND position < $3',
    id,
    iteration,
    verdicts.length,
  )
  for (const row of toVerdictRows(id, iteration, verdicts)) await insert('check_result', row)
  const weakened = Number(isWeakened(findings))
  await run('UPDATE iteration SET weakened = $1 WHERE loop = $2 AND n = $3', weakened, id, iteration)
}
