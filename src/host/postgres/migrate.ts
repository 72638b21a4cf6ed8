/** Creates the tables in Postgres, or brings them up to date. */
import type { Client } from 'pg'
import { RalphError } from '../../error.ts'
import { type Address, openClient, placeOf, schemaOf } from './connect.ts'
import { MAJOR, MIGRATIONS } from './tables.ts'
import { inPostgresWords, isForbidden, notOwner } from './words.ts'

/** If several processes come at once, one does it, and the others wait. */
export async function migrate(address: Address): Promise<void> {
  const where = placeOf(address)
  const schema = schemaOf(address)
  const client = openClient(address)
  client.on('error', () => {}) // the next caller gets the error
  try {
    await client.connect()
    await mustHoldAnyText(client, where)
    if ((await versionIn(client, schema, where)) >= MIGRATIONS.length) return
    await client.query('BEGIN')
    // Freed with the transaction, however that ends.
    await client.query('SELECT pg_advisory_xact_lock(hashtext($1))', [`ralph tables ${schema}`])
    await stepForward(client, schema, await versionIn(client, schema, where)).catch((cause: unknown) => {
      throw isForbidden(cause) ? notOwner(where, cause) : cause
    })
    await client.query('COMMIT')
  } catch (cause) {
    throw inPostgresWords(cause, where)
  } finally {
    await client.end().catch(() => {}) // it is already closed
  }
}

async function stepForward(client: Client, schema: string, version: number): Promise<void> {
  if (version >= MIGRATIONS.length) return
  // A user who may not create schemas must not ask for one that already exists.
  const { rows } = await client.query('SELECT to_regnamespace($1) IS NULL AS missing', [schema])
  if (rows[0]?.missing) await client.query(`CREATE SCHEMA ${schema}`)
  if (version === 0)
    await client.query(
      'CREATE TABLE version (is_only BOOLEAN PRIMARY KEY CHECK (is_only), tables INTEGER NOT NULL, major INTEGER NOT NULL)',
    )
  for (const migration of MIGRATIONS.slice(version)) await client.query(migration)
  await client.query(
    `INSERT INTO version VALUES (true, $1, $2) ON CONFLICT (is_only) DO UPDATE SET tables = excluded.tables`,
    [MIGRATIONS.length, MAJOR],
  )
}

/**
 * How many migrations it has; 0 if there are no tables yet. Later migrations than this ralph knows only add to what it
 * uses.
 */
async function versionIn(client: Client, schema: string, where: string): Promise<number> {
  const found = await client.query('SELECT to_regclass($1) IS NOT NULL AS is_there', [`${schema}.version`])
  if (!found.rows[0]?.is_there) return 0
  const { rows } = await client.query('SELECT tables, major FROM version')
  const { tables, major } = rows[0] as { tables: number; major: number } // written with the table
  const same = 'Use the same major version of ralph on every machine.'
  if (major !== MAJOR)
    throw new RalphError(
      major > MAJOR ? 'database-newer' : 'database-older',
      `${where} belongs to ralph ${major}, but this is ralph ${MAJOR}. ${same}`,
    )
  return tables
}

async function mustHoldAnyText(client: Client, where: string): Promise<void> {
  const { rows } = await client.query('SHOW server_encoding')
  if (rows[0]?.server_encoding === 'UTF8') return
  throw new RalphError(
    'database-refused',
    `${where} uses the encoding ${rows[0]?.server_encoding}. Create one with UTF8: \`createdb --encoding UTF8 --template template0\`.`,
  )
}
