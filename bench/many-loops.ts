/** Fills a home with many loops: the real store writes a few, and the rest are copies of their rows. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Fact, type Loop, startLoop } from '../src/engine/loop.ts'
import { step } from '../src/engine/step.ts'
import { openAsking } from '../src/host/postgres/asking.ts'
import { openPostgres } from '../src/host/postgres/store.ts'
import { openStore } from '../src/host/sqlite.ts'
import type { Store } from '../src/host/store.ts'
import { specFor } from './instant-loop.ts'

const MODELS = 20
const MINUTE = 60_000

/** `database`: the URL of a Postgres. Without it, the database of this home. */
export type Filled = { home: string; database?: string | undefined }

/** Each has this many iterations, each with a turn and its checks. Most completed, some halted, one in twenty is paused. */
export async function fillWithLoops({ home, database }: Filled, loops: number, iterations: number): Promise<void> {
  const store = database ? openPostgres({ url: database, home, now: Date.now }) : openStore(home, Date.now)
  for (let n = 0; n < MODELS; n++) await makeModel(store, home, { n, iterations })
  await store.close()
  const copies = loops / MODELS - 1
  await (database ? copyInPostgres(database, copies) : copyInSqlite(home, copies))
}

type Model = { n: number; iterations: number }

async function makeModel(store: Store, home: string, { n, iterations }: Model): Promise<void> {
  const spec = { ...specFor(join(home, `work-${n % 5}`), iterations), checks: ['npm test', 'npm run lint'] }
  let at = Date.now() - 400 * 24 * 60 * MINUTE
  let loop: Loop = startLoop(`m${String(n).padStart(2, '0')}`, spec, { at, tree: 'start' })
  await store.create(loop)
  const lease = await store.lease(loop.id)
  if ('heldBy' in lease) throw new Error(`A loop of the bench is held by ${lease.heldBy}.`)
  const add = async (fact: object) => {
    at += MINUTE
    const whole = { at, ...fact } as Fact // as the literals below say
    loop = step(loop, whole)
    await store.save(lease, loop, whole)
  }
  await add(checked('fail', 9))
  for (let turn = 1; turn <= iterations; turn++) {
    const isLast = turn === iterations
    await add(turned(turn, isLast || turn % 4 === 0))
    if (isLast && n === 0) await add({ kind: 'told', by: 'Bench', order: { kind: 'pause' } })
    if (loop.next.kind === 'check') await add(checked(isLast && n % 4 > 0 ? 'pass' : 'fail', iterations - turn))
  }
  await lease.release()
}

const WORDS = 'The agent says what it did. '.repeat(10)

function turned(turn: number, claims: boolean): object {
  const usage = { input: 2_000, cached: 40_000, output: 900 }
  const claim = { kind: claims ? 'clear' : 'none' }
  const seen = { tree: `tree ${turn}`, ranTests: true, diff: { files: 2, added: 30, removed: 4 } }
  return { kind: 'turned', turn: { end: 'ok', claim, words: WORDS, tokens: 42_900, costUsd: 0.12, usage, ...seen } }
}

function checked(result: 'pass' | 'fail', failures: number): object {
  const verdict = (check: string) => ({ check, result, failures, tail: `${failures} failed` })
  return { kind: 'checked', verdicts: ['npm test', 'npm run lint'].map(verdict), findings: [], ms: 1_000 }
}

const TABLES = ['loop', 'event', 'iteration', 'check_result']

/** The dialect of a database. `digits`: those of `k`. `seq`: the numbers of new rows. */
type Dialect = { numbers: string; digits: string; seq: string }

/** This many more copies of each row, a minute apart. */
function copying(table: string, columns: readonly string[], { numbers, digits, seq }: Dialect): string {
  const ids = ['id', 'loop'].map((name) => [name, `${name} || ${digits}`])
  const times = ['started_at', 'updated_at', 'ended_at', 'at'].map((name) => [name, `${name} + k * ${MINUTE}`])
  const changed = new Map([['seq', seq], ...ids, ...times] as [string, string][])
  const values = columns.map((name) => changed.get(name) ?? `"${name}"`)
  return `INSERT INTO ${table} (${columns.map((name) => `"${name}"`)}) SELECT ${values} FROM ${table}, ${numbers}`
}

function copyInSqlite(home: string, copies: number): void {
  const database = new DatabaseSync(join(home, 'ralph.db'))
  const counting = `SELECT 1 UNION ALL SELECT k + 1 FROM copy WHERE k < ${copies}`
  const numbers = `(WITH RECURSIVE copy (k) AS (${counting}) SELECT k FROM copy)`
  try {
    database.exec('BEGIN')
    for (const table of TABLES) {
      const rows = database.prepare(`SELECT name FROM pragma_table_xinfo('${table}') WHERE hidden = 0`).all()
      database.exec(copying(table, namesOf(rows), { numbers, digits: "printf('%04d', k)", seq: 'NULL' }))
    }
    database.exec('COMMIT; ANALYZE')
  } finally {
    database.close()
  }
}

async function copyInPostgres(url: string, copies: number): Promise<void> {
  const { transaction, query, close } = openAsking({ url })
  const numbers = `generate_series(1, ${copies}) AS copy (k)`
  const columns = 'SELECT column_name AS name FROM information_schema.columns WHERE table_schema = current_schema()'
  try {
    await transaction(async ({ all, run }) => {
      for (const table of TABLES) {
        const rows = await all(`${columns} AND table_name = $1 ORDER BY ordinal_position`, table)
        const seq = `(SELECT max(seq) FROM ${table}) + row_number() OVER ()`
        await run(copying(table, namesOf(rows), { numbers, digits: "lpad(k::text, 4, '0')", seq }))
      }
      for (const counter of ['loop', 'event'])
        await run(`UPDATE counter SET n = (SELECT max(seq) FROM ${counter}) WHERE name = $1`, counter)
    })
    await query('ANALYZE')
  } finally {
    await close()
  }
}

function namesOf(rows: readonly Record<string, unknown>[]): string[] {
  return rows.map(({ name }) => String(name))
}
