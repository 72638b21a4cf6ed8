/** The ways to query Postgres. Every write is a transaction that is written once, even if its last answer gets lost. */
import type { ClientBase, Pool } from 'pg'
import { isRalphError } from '../../error.ts'
import { codeOf } from '../plain-words.ts'
import type { Row } from '../rows.ts'
import { untilItWorks } from '../waiting.ts'
import { type Address, openPool, placeOf, schemaOf } from './connect.ts'
import { encodeText } from './text.ts'
import { inPostgresWords, isCollision } from './words.ts'

export type PgValue = string | number | boolean | null | Uint8Array | readonly string[] | readonly number[]
export type PgColumns = Record<string, PgValue>

/** Values replace `$1`, `$2` …. A single `run` or `insert` is its own transaction. */
export type PgAsking = {
  all(sql: string, ...values: PgValue[]): Promise<Row[]>
  one(sql: string, ...values: PgValue[]): Promise<Row | undefined>
  run(sql: string, ...values: PgValue[]): Promise<void>
  insert(table: string, columns: PgColumns): Promise<void>
  /**
   * All of it or nothing. Called again from the start if two collide. Inside another transaction it is part of that.
   */
  transaction<Result>(
    work: (asking: PgAsking) => Promise<Result>,
    telling?: Telling | ((result: Result) => Telling),
  ): Promise<Result>
  /**
   * One statement that changes rows, and returns them: safe to repeat if its answer gets lost, and one round trip
   * instead of four. Listeners are notified if it changed anything.
   */
  once(sql: string, ...values: PgValue[]): Promise<Row | undefined>
  /** Returns what the driver returns, for a library that speaks SQL itself. */
  query(sql: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  close(): Promise<void>
}

/** What listeners are notified of once it is written. `silent`: nothing. */
export type Telling = 'change' | 'silent'

export function openAsking(address: Address): PgAsking {
  const pool = openPool(address)
  const where = placeOf(address)
  const channel = schemaOf(address)
  const plainly = <Result>(work: () => Promise<Result>) =>
    work().catch((cause: unknown) => {
      throw inPostgresWords(cause, where)
    })
  const transaction: PgAsking['transaction'] = (work, telling = 'change') =>
    plainly(() => withoutCollisions(() => runTransaction(pool, { work, channel, telling })))
  return {
    ...asksBy((sql, values) => plainly(() => pool.query(sql, [...values]))),
    run: (...given) => transaction((asking) => asking.run(...given)),
    insert: (...given) => transaction((asking) => asking.insert(...given)),
    transaction,
    once: async (sql, ...values) => {
      const told = `WITH changed AS (${sql}), told AS (SELECT pg_notify('${channel}', '') FROM changed LIMIT 1) SELECT changed.* FROM changed LEFT JOIN told ON true`
      return (await plainly(() => withoutCollisions(() => pool.query(told, values.map(encode))))).rows[0]
    },
    query: (sql, values) => plainly(() => pool.query(sql, values)),
    close: async () => (pool.ended ? undefined : pool.end()),
  }
}

type Query = (sql: string, values: PgValue[]) => Promise<{ rows: Row[] }>

function asksBy(query: Query): Omit<PgAsking, 'transaction' | 'once' | 'query' | 'close'> {
  const all = async (sql: string, ...values: PgValue[]) => (await query(sql, values.map(encode))).rows
  const run = async (sql: string, ...values: PgValue[]) => void (await all(sql, ...values))
  return {
    all,
    run,
    one: async (sql, ...values) => (await all(sql, ...values))[0],
    insert(table, columns) {
      const names = Object.keys(columns)
      const places = names.map((_, index) => `$${index + 1}`)
      return run(`INSERT INTO ${table} ("${names.join('","')}") VALUES (${places})`, ...Object.values(columns))
    },
  }
}

function encode(value: PgValue): PgValue {
  if (typeof value === 'string') return encodeText(value)
  return Array.isArray(value) ? value.map((each) => (typeof each === 'string' ? encodeText(each) : each)) : value
}

type Work<Result> = {
  work: (asking: PgAsking) => Promise<Result>
  channel: string
  telling: Telling | ((result: Result) => Telling)
}

async function runTransaction<Result>(pool: Pool, work: Work<Result>): Promise<Result> {
  const client = await pool.connect()
  const end = await workIn(client, work)
  // A connection that may still be in a transaction is closed, which ends the transaction.
  client.release(end.kind !== 'written' && !(end.kind === 'failed' && (await isRolledBack(client))))
  if (end.kind === 'failed') throw end.cause
  // Only without the broken connection: others may need the last one of the pool for the same question.
  if (end.kind === 'unclear') await mustHaveArrived(pool, end.id, end.cause)
  return end.result
}

type End<Result> =
  | { kind: 'written'; result: Result }
  | { kind: 'failed'; cause: unknown }
  /** Nobody has said whether it was written. */
  | { kind: 'unclear'; result: Result; id: string | null; cause: unknown }

async function workIn<Result>(client: ClientBase, { work, channel, telling }: Work<Result>): Promise<End<Result>> {
  try {
    await client.query('BEGIN')
    const result = await work(inside(client))
    const told = typeof telling === 'function' ? telling(result) : telling
    const { rows } = await client.query(FINISH, [told === 'silent' ? null : channel])
    const id: string | null = rows[0]?.id ?? null
    return await client.query('COMMIT').then(
      (): End<Result> => ({ kind: 'written', result }),
      (cause: unknown): End<Result> => ({ kind: 'unclear', result, id, cause }),
    )
  } catch (cause) {
    return { kind: 'failed', cause }
  }
}

function isRolledBack(client: ClientBase): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  )
}

// A transaction that has written nothing has no id, and nobody needs to be notified.
const FINISH = `SELECT pg_current_xact_id_if_assigned()::text AS id,
  CASE WHEN pg_current_xact_id_if_assigned() IS NOT NULL AND $1::text IS NOT NULL THEN pg_notify($1, '') END`

function inside(client: ClientBase): PgAsking {
  const asking: PgAsking = {
    ...asksBy((sql, values) => client.query(sql, values)),
    transaction: (work) => work(asking),
    once: (sql, ...values) => asking.one(sql, ...values),
    query: (sql, values) => client.query(sql, values),
    close: async () => {},
  }
  return asking
}

/** The connection broke before Postgres confirmed the commit: Postgres knows whether it was written. */
async function mustHaveArrived(pool: Pool, id: string | null, cause: unknown): Promise<void> {
  if (id === null || !isUnreachable(cause)) throw cause
  const why = (failed: unknown) => (failed === OPEN || isUnreachable(failed) ? LOST : undefined)
  const patient = (failed: unknown, waitedMs: number) => (waitedMs < PATIENCE_MS ? why(failed) : undefined)
  const status = await untilItWorks(
    async () => {
      const status = await statusOf(pool, id)
      if (status === 'in progress') throw OPEN
      return status
    },
    { why: patient },
  )
  if (status !== 'committed') throw cause
}

/** After a crash Postgres may not know the id at all: then nothing of it was written. */
async function statusOf(pool: Pool, id: string): Promise<unknown> {
  try {
    return (await pool.query('SELECT pg_xact_status($1::text::xid8) AS status', [id])).rows[0]?.status
  } catch (cause) {
    if (codeOf(cause) === IN_THE_FUTURE) return 'aborted'
    throw cause
  }
}

const IN_THE_FUTURE = '22023'

const OPEN = new Error('The transaction is still running.')
const LOST = 'The connection to the database was lost. Reconnecting.'
const PATIENCE_MS = 10 * 60_000

export function isUnreachable(cause: unknown): boolean {
  const found = inPostgresWords(cause, '')
  return isRalphError(found) && found.code === 'database-unreachable'
}

const MOST_COLLISIONS = 20

async function withoutCollisions<Result>(work: () => Promise<Result>): Promise<Result> {
  let left = MOST_COLLISIONS
  return untilItWorks(work, { why: (cause) => (isCollision(cause) && left-- > 0 ? COLLIDED : undefined) })
}

const COLLIDED = 'The database is busy. Retrying.'
