/** Databases for tests, in one Postgres that the first caller starts, for all test files of a run. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { onTestFinished } from 'vitest'
import { source, temporaryFolder } from '../place.test-support.ts'
import { openStore } from '../sqlite.ts'
import type { Store } from '../store.ts'
import type { Kept } from './keeper.test-support.ts'
import { type Opening, openPostgres } from './store.ts'

type Place = { folder: string; owner: number }

/** Set by `test/one-postgres.ts` for all processes of a run. Without it, each process has its own Postgres. */
function placeOfRun(): Place {
  const { RALPH_TEST_POSTGRES: folder, RALPH_TEST_OWNER: owner } = process.env
  if (folder && owner) return { folder, owner: Number(owner) }
  return { folder: mkdtempSync(join(tmpdir(), 'ralph-one-postgres-')), owner: process.pid }
}

let asked: Promise<Kept> | undefined

/** Why there is none on this machine; undefined if there is one. Tests that need it are skipped with that reason. */
export async function postgresMissing(): Promise<string | undefined> {
  asked ??= keptFor(placeOfRun())
  const kept = await asked
  return 'missing' in kept ? kept.missing : undefined
}

async function keptFor({ folder, owner }: Place): Promise<Kept> {
  if (isFirst(folder)) {
    const keeper = join(import.meta.dirname, 'keeper.test-support.ts')
    spawn(process.execPath, ['--disable-warning=ExperimentalWarning', keeper, folder, `${owner}`], {
      detached: true,
      stdio: 'ignore',
    }).unref()
  }
  const told = join(folder, 'server.json')
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await sleep(20))
    if (existsSync(told)) return JSON.parse(readFileSync(told, 'utf8')) as Kept
  return { missing: `Postgres has not started in ${PATIENCE_MS} ms.` }
}

const PATIENCE_MS = 60_000

function isFirst(folder: string): boolean {
  return mkdirSync(join(folder, 'asked'), { recursive: true }) !== undefined
}

let made = 0

/** The URL of a new database. `empty`: without tables. It is removed with the Postgres, or with `dropDatabase`. */
export async function testDatabase({ empty = false }: { empty?: boolean } = {}): Promise<string> {
  const missing = await postgresMissing()
  const kept = await asked
  if (!kept || 'missing' in kept) throw new Error(missing)
  const name = `test_${process.pid}_${++made}`
  await inPostgres(
    kept.url,
    `CREATE DATABASE ${name} TEMPLATE ${empty ? 'template0' : kept.template} STRATEGY FILE_COPY`,
  )
  return kept.url.replace(/\/postgres$/, `/${name}`)
}

export async function dropDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  await inPostgres(url.replace(/\/\w+$/, '/postgres'), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
}

const emptying = new Map<string, string>()

/**
 * As it was when it was created, which is faster than creating another. Deleting few rows is much faster than
 * truncating.
 */
export async function emptyDatabase(url: string): Promise<void> {
  if (!emptying.has(url)) {
    const [found] = await inPostgres(url, HOW_TO_EMPTY)
    emptying.set(url, `SET session_replication_role = replica; ${found?.sql}; UPDATE ralph.counter SET n = 0`)
  }
  await inPostgres(url, emptying.get(url) ?? '')
}

const HOW_TO_EMPTY = `SELECT string_agg(each, '; ') AS sql FROM (
  SELECT format('DELETE FROM ralph.%I', tablename) AS each FROM pg_tables
    WHERE schemaname = 'ralph' AND tablename NOT IN ('version', 'counter')
  UNION ALL
  SELECT format('SELECT setval(%L, %s, false)', format('ralph.%I', sequencename), start_value) FROM pg_sequences
    WHERE schemaname = 'ralph')`

/** Queries a database without the store. */
export async function inPostgres(url: string, sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new Client(url)
  await client.connect()
  try {
    return (await client.query(sql, values)).rows
  } finally {
    await client.end()
  }
}

/** If the tests of fronts run on Postgres (RALPH_TEST_DATABASE=1), each home has its own schema. */
export function databaseOf(home: string): { database?: string } {
  const url = process.env.RALPH_TEST_DATABASE_URL
  return url ? { database: `${url}?schema=home_${createHash('md5').update(home).digest('hex')}` } : {}
}

/** Whether they do. */
export const isOnPostgres: boolean = Boolean(process.env.RALPH_TEST_DATABASE)

/** The store of a home, and how another process opens it: an expression. */
export function openStoreOf(home: string): { store: Store; elsewhere: string } {
  const { database: url } = databaseOf(home)
  if (url === undefined)
    return {
      store: openStore(home, Date.now),
      elsewhere: `(await import(${source('host/sqlite.ts')})).openStore(${JSON.stringify(home)}, Date.now)`,
    }
  const opening = JSON.stringify({ url, home })
  return {
    store: openPostgres({ url, home, now: Date.now }),
    elsewhere: `(await import(${source('host/postgres/store.ts')})).openPostgres({ ...${opening}, now: Date.now })`,
  }
}

/** As only a person with a database tool would. */
export async function removeLoop(home: string, id: string): Promise<void> {
  const { database: url } = databaseOf(home)
  if (url) {
    const { searchParams, href } = new URL(url)
    await inPostgres(href.replace(/\?.*/, ''), `DELETE FROM ${searchParams.get('schema')}.loop WHERE id = $1`, [id])
    return
  }
  const database = new DatabaseSync(join(home, 'ralph.db'), { enableForeignKeyConstraints: false })
  database.prepare('DELETE FROM loop WHERE id = ?').run(id)
  database.close()
}

export type TestPlace = { url: string; connect(more?: Partial<Opening>): Store }

/** A database with all tables, and stores of it, each as if on its own machine. They are removed with the test. */
export async function openTestPlace(opening: Partial<Opening> = {}): Promise<TestPlace> {
  const url = await testDatabase()
  const stores: Store[] = []
  onTestFinished(async () => {
    for (const store of stores) await store.close()
    await dropDatabase(url)
  })
  return {
    url,
    connect(more = {}) {
      const store = openPostgres({ url, home: temporaryFolder(), now: Date.now, ...opening, ...more })
      stores.push(store)
      return store
    },
  }
}
