/** Fills a home with many loops: a few are made by the real store, the rest are copies of their rows. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Fact, type Loop, startLoop } from '../src/engine/loop.ts'
import { step } from '../src/engine/step.ts'
import { openStore } from '../src/host/sqlite.ts'
import type { Store } from '../src/host/store.ts'
import { specFor } from './instant-loop.ts'

const MODELS = 20
const MINUTE = 60_000

/** Each has so many iterations, each with a turn and its checks. Most completed, some halted, one in twenty is paused. */
export async function fillWithLoops(home: string, loops: number, iterations: number): Promise<void> {
  const store = openStore(home, Date.now)
  for (let n = 0; n < MODELS; n++) await makeModel(store, home, { n, iterations })
  await store.close()
  const database = new DatabaseSync(join(home, 'ralph.db'))
  try {
    copyLoops(database, loops / MODELS - 1)
  } finally {
    database.close()
  }
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

const WORDS = 'The agent tells what it did. '.repeat(10)

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

/** So many of each, a minute apart. */
function copyLoops(database: DatabaseSync, copies: number): void {
  const numbers = `(WITH RECURSIVE copy (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM copy WHERE k < ${copies}) SELECT k FROM copy)`
  const id = (column: string) => `printf('%s%04d', ${column}, k)`
  const later = (column: string) => `${column} + k * ${MINUTE}`
  database.exec('BEGIN')
  copyTable('loop', { id: id('id'), started_at: later('started_at'), updated_at: later('updated_at') })
  copyTable('event', { seq: 'NULL', loop: id('loop'), at: later('at') })
  copyTable('iteration', { loop: id('loop'), started_at: later('started_at'), ended_at: later('ended_at') })
  copyTable('check_result', { loop: id('loop') })
  database.exec('COMMIT; ANALYZE')

  function copyTable(table: string, changed: Readonly<Record<string, string>>): void {
    const columns = database
      .prepare(`SELECT name FROM pragma_table_xinfo('${table}') WHERE hidden = 0`)
      .all()
      .map(({ name }) => String(name))
    const values = columns.map((name) => changed[name] ?? `"${name}"`)
    database.exec(
      `INSERT INTO ${table} (${columns.map((name) => `"${name}"`)}) SELECT ${values} FROM ${table}, ${numbers}`,
    )
  }
}
