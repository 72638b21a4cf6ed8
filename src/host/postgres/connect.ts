/** Connections to a Postgres database, by its URL. */
import { Client, type ClientConfig, Pool, types } from 'pg'
import { RalphError } from '../../error.ts'
import { decodeText } from './text.ts'

/** `schema`: where ralph's tables are. `connections`: the maximum, besides those that listen. A URL can set both. */
export type Address = { url: string; schema?: string | undefined; connections?: number | undefined }

const SCHEMA = 'ralph'

export function openPool(address: Address): Pool {
  const pool = new Pool({ ...configOf(address), max: connectionsOf(address), allowExitOnIdle: true })
  pool.on('error', () => {}) // an idle connection broke: the next caller gets another
  pool.on('connect', (client) => client.on('error', () => {})) // its user learns that from the call
  return pool
}

const CONNECTIONS = 8

/** At least two: code in a transaction may run another query. */
function connectionsOf({ url, connections }: Address): number {
  const text = urlOf(url).searchParams.get('connections')
  if (text === null) return connections ?? CONNECTIONS
  if (/^\d{1,3}$/.test(text) && Number(text) >= 2) return Number(text)
  throw new RalphError('usage', `?connections= in the database URL must be a number from 2 to 999, got "${text}".`)
}

/** A separate connection for what keeps one: listening, and locks that end with it. */
export function openClient(address: Address): Client {
  return new Client(configOf(address))
}

/** The database as shown to people, without its password. */
export function placeOf({ url }: Address): string {
  const { hostname, port, pathname } = urlOf(url)
  return `The database ${pathname.slice(1) || 'postgres'} at ${hostname || 'this machine'}${port && `:${port}`}`
}

/** Also the channel for change notifications. */
export function schemaOf({ url, schema = urlOf(url).searchParams.get('schema') ?? SCHEMA }: Address): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) return schema
  throw new RalphError('usage', `Invalid schema name: "${schema}". Use lowercase letters, digits and underscores.`)
}

function configOf(address: Address): ClientConfig {
  const parsed = urlOf(address.url)
  const { searchParams } = parsed
  for (const own of ['schema', 'connections']) searchParams.delete(own) // Postgres does not know them
  const settings = [
    `search_path=${schemaOf(address)}`,
    // A process that is stopped in the middle of a transaction must not block all other writers.
    `idle_in_transaction_session_timeout=${STANDSTILL_MS}`,
    // Postgres notices within a minute that a machine is gone, and frees its locks.
    'tcp_keepalives_idle=30',
    'tcp_keepalives_interval=10',
    'tcp_keepalives_count=3',
  ]
  const options = [searchParams.get('options') ?? '', ...settings.map((setting) => `-c ${setting}`)].join(' ').trim()
  searchParams.set('options', options)
  if (!searchParams.has('application_name')) searchParams.set('application_name', 'ralph')
  return {
    connectionString: parsed.href,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: LONGEST_QUERY_MS,
    keepAlive: true,
    types: { getTypeParser },
  }
}

const ANSWER_MS = 10_000
const LONGEST_QUERY_MS = 60_000
const STANDSTILL_MS = 10_000

function urlOf(url: string): URL {
  const parsed = URL.parse(url)
  if (parsed && /^postgres(ql)?:$/.test(parsed.protocol)) return parsed
  throw new RalphError('usage', 'The database must be a URL: postgres://user@host:5432/name')
}

/** By Postgres' own type ids: bigint and numeric, text and varchar. */
const NUMBERS: readonly number[] = [20, 1700]
const TEXTS: readonly number[] = [25, 1043]

/** Our numbers fit into a JavaScript number; texts come back as they were given. */
function getTypeParser(type: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (NUMBERS.includes(type)) return Number
  if (TEXTS.includes(type)) return decodeText
  return types.getTypeParser(type, format ?? 'text')
}
