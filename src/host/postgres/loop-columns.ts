/** A loop and its facts in Postgres: the columns of every store, and what only SQLite can extract from JSON itself. */
import { homeFolder } from '../../engine/home-folder.ts'
import type { Fact, Loop, Order } from '../../engine/loop.ts'
import { commentsIn } from '../comment-records.ts'
import type { Brief } from '../iteration-queries.ts'
import { toColumns } from '../rows.ts'
import type { PgAsking, PgColumns } from './asking.ts'
import { insertNumbered, takeNumbers } from './counter.ts'
import { insertMany } from './insert-many.ts'

export function toPgColumns(loop: Loop): PgColumns {
  const { spec, tally, next } = loop
  const { type, size, parent, worktree, gitDir, owner } = spec.work
  const turn = next.kind === 'turn' ? next : undefined
  return {
    ...toColumns(loop),
    type: type ?? null,
    size: size ?? null,
    bent: tally.bent ?? null,
    findings: tally.findings.length,
    finding_kinds: tally.findings.map(({ kind }) => kind),
    parent: parent?.loop ?? null,
    owner_task: ownField(owner, 'task'),
    owner_name: ownField(owner, 'name'),
    owner_path: ownField(owner, 'path'),
    owner_id: ownField(owner, 'id'),
    place: worktree ? null : (gitDir ?? homeFolder(loop)),
    stages: spec.stages.length,
    held: tally.held?.kind ?? null,
    crashes: tally.crashes,
    turn_iteration: turn?.iteration ?? null,
    turn_attempt: turn?.attempt ?? null,
  }
}

/** Everything besides the kind is the owner's own. */
function ownField(owner: object | undefined, field: string): string | null {
  const value = (owner as Record<string, unknown> | undefined)?.[field]
  return typeof value === 'string' ? value : null
}

/** Runs inside a transaction. Throws if the id exists. */
export function insertLoop(asking: PgAsking, loop: Loop): Promise<void> {
  return insertNumbered(asking, { table: 'loop', counter: 'loop' }, toNewPgColumns(loop))
}

function toNewPgColumns(loop: Loop): PgColumns {
  const { startedAt } = loop.tally
  return { id: loop.id, started_at: startedAt, updated_at: startedAt, ...toPgColumns(loop) }
}

/** Many at once, inside a transaction, last. */
export async function insertLoops(asking: PgAsking, loops: readonly Loop[]): Promise<void> {
  const last = await takeNumbers(asking, 'loop', loops.length)
  const rows = loops.map((loop, at) => ({ seq: last - loops.length + 1 + at, ...toNewPgColumns(loop) }))
  await insertMany(asking, 'loop', rows)
}

/** Inside the transaction that saves it, last: until that has ended no other event gets a number. */
export function insertEvent(asking: PgAsking, { id, next }: Loop, fact: Fact, n: number): Promise<void> {
  return insertNumbered(
    asking,
    { table: 'event', counter: 'event' },
    {
      loop: id,
      n,
      at: fact.at,
      fact: JSON.stringify(fact),
      next: JSON.stringify(next),
      brief: JSON.stringify(briefOf(fact)),
      comments: fact.kind === 'told' ? commentsIn(fact.order) : [],
    },
  )
}

function briefOf(fact: Fact): Brief {
  const { end = null, claim = null, reports = null, ask = null } = fact.kind === 'turned' ? fact.turn : {}
  return [fact.kind, end, claim, reports, 'findings' in fact ? (fact.findings ?? null) : null, ask]
}

export function toOrderColumns(order: Order): PgColumns {
  return { kind: order.kind, order: JSON.stringify(order), comments: commentsIn(order) }
}
