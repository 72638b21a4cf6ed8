/** Locks that one process among all machines holds, as long as its own connection lives. */
import type { Client } from 'pg'
import type { Locks } from '../store.ts'
import type { PgAsking } from './asking.ts'
import { type Address, openClient, placeOf, schemaOf } from './connect.ts'
import { inPostgresWords } from './words.ts'

/** The keys of a lock in Postgres. Its view of all locks shows them unsigned. */
const KEY = 'hashtext($1), hashtext($2)'
const HELD = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND classid = (hashtext($1)::bigint & 4294967295)::oid AND objid = (hashtext($2)::bigint & 4294967295)::oid`

export function openLocks({ one }: PgAsking, address: Address): Locks & { close(): Promise<void> } {
  const schema = schemaOf(address)
  const open = new Set<{ close(): Promise<void> }>()
  const isHeld = async (name: string) => (await one(HELD, schema, name)) !== undefined
  return {
    isHeld,
    open(name) {
      let holder: Client | undefined
      const lock = {
        async hold() {
          // Only looking whether it is free needs no separate connection.
          if (!holder && !(await isHeld(name))) holder = await take(address, [schema, name], () => (holder = undefined))
          return holder !== undefined
        },
        async close() {
          const held = holder
          holder = undefined
          open.delete(lock)
          await held?.end().catch(() => {}) // it is already closed
        },
      }
      open.add(lock)
      return lock
    },
    async close() {
      await Promise.all([...open].map((lock) => lock.close()))
    },
  }
}

/** Undefined if somebody else was quicker. `lost`: the connection has broken, and the lock is free. */
async function take(address: Address, key: string[], lost: () => void): Promise<Client | undefined> {
  const client = openClient(address)
  client.on('error', lost).on('end', lost)
  try {
    await client.connect()
    const { rows } = await client.query(`SELECT pg_try_advisory_lock(${KEY}) AS taken`, key)
    if (rows[0]?.taken) return client
    await client.end()
    return undefined
  } catch (cause) {
    await client.end().catch(() => {}) // it was never opened
    throw inPostgresWords(cause, placeOf(address))
  }
}
