/** The heart of the store in SQLite: what moving a loop needs. `ralph.db` is the truth, `locks/<loop>.db` proves that a driver is alive. */
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { iterationLimit } from '../engine/limits.ts'
import {
  type Fact,
  type Loop,
  type Next,
  type Order,
  statusOf,
  type Tally,
  type Turn,
  type Verdict,
} from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { plainly } from './database.ts'
import { makePrivateFolder } from './files.ts'
import { lockLoop } from './lock.ts'
import { parse, type Row, toLoop } from './rows.ts'
import type { Held, Lease, Store } from './store.ts'
import type { TurnRecords } from './transcript.ts'

/** What a driver of one loop needs of a store. */
export type LoopStore = Pick<Store, 'load' | 'lease' | 'save' | 'told' | 'close'> & {
  transcripts: TurnRecords
}

/** The ways to ask the database, for what is built around the heart. */
export type Asking = {
  run(sql: string, ...values: SQLInputValue[]): void
  all(sql: string, ...values: SQLInputValue[]): Row[]
  one(sql: string, ...values: SQLInputValue[]): Row | undefined
  transaction<Result>(work: () => Result): Result
  mustHave(id: string): Row
}

type Opening = { home: string; now: () => number; transcripts: TurnRecords; open: (path: string) => DatabaseSync }

export function openLoopStore({ home, now, transcripts, open }: Opening): LoopStore & { asking: Asking } {
  makePrivateFolder(home)
  makePrivateFolder(join(home, 'locks'))
  const path = join(home, 'ralph.db')
  const database = plainly(path, () => open(path))
  const statements = new Map<string, StatementSync>()

  const run = (sql: string, ...values: SQLInputValue[]) => plainly(path, () => prepare(sql).run(...values))
  const all = (sql: string, ...values: SQLInputValue[]) => plainly(path, () => prepare(sql).all(...values) as Row[])
  const one = (sql: string, ...values: SQLInputValue[]) => all(sql, ...values)[0]

  function prepare(sql: string): StatementSync {
    const known = statements.get(sql)
    if (known) return known
    const statement = database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }

  function transaction<Result>(work: () => Result): Result {
    plainly(path, () => database.exec('BEGIN IMMEDIATE'))
    try {
      const result = work()
      plainly(path, () => database.exec('COMMIT'))
      return result
    } catch (cause) {
      if (database.isTransaction) database.exec('ROLLBACK')
      throw cause
    }
  }

  function mustHave(id: string): Row {
    const row = one('SELECT * FROM loop WHERE id = ?', id)
    if (!row) throw unknownLoop(id)
    return row
  }

  function missingFacts(id: string): void {
    const last = transcripts.lastFact(id)
    if (last < 0) transcripts.begin(beginningOf(toLoop(mustHave(id))))
    for (const row of all('SELECT n, fact FROM event WHERE loop = ? AND n > ? ORDER BY n', id, Math.max(0, last)))
      transcripts.addFact(id, Number(row.n), parse<Fact>(row.fact))
  }

  return {
    transcripts,
    asking: { run, all, one, transaction, mustHave },

    async load(id) {
      return toLoop(mustHave(id))
    },

    async lease(id, patienceMs): Promise<Lease | Held> {
      mustHave(id)
      const lock = lockLoop(home, id, patienceMs)
      if (!lock) return { heldBy: String(mustHave(id).holder) || 'another process' }
      try {
        const holder = `process ${process.pid} on ${hostname()}`
        const row = transaction(() =>
          one('UPDATE loop SET epoch = epoch + 1, holder = ? WHERE id = ? RETURNING epoch, updated_at', holder, id),
        )
        missingFacts(id)
        return {
          loop: id,
          epoch: Number(row?.epoch),
          movedAt: Number(row?.updated_at),
          release: async () => lock.close(),
        }
      } catch (cause) {
        lock.close()
        throw cause
      }
    },

    async save(lease, loop, fact) {
      const n = transaction(() => {
        const before = one('SELECT * FROM loop WHERE id = ? AND epoch = ?', lease.loop, lease.epoch)
        if (!before)
          throw new RalphError(
            'lease-lost',
            `Loop ${lease.loop} has been taken over by another ralph. This one stops; nothing it did since is recorded.`,
          )
        const number = Number(before.events) + 1
        run(
          `UPDATE loop SET spec = ?, tally = ?, next = ?, status = ?, reason = ?, proof = ?, iteration = ?, iteration_limit = ?,
           false_claims = ?, tokens = ?, cost_usd = ?, events = ?, updated_at = ? WHERE id = ?`,
          JSON.stringify(loop.spec),
          JSON.stringify(loop.tally),
          JSON.stringify(loop.next),
          statusOf(loop),
          loop.next.kind === 'halt' ? loop.next.reason : null,
          loop.next.kind === 'complete' ? loop.next.proof : null,
          loop.tally.iteration,
          iterationLimit(loop.spec.limits, loop.tally),
          loop.tally.falseClaims,
          Math.round(loop.tally.tokens),
          loop.tally.costUsd,
          number,
          fact.at,
          loop.id,
        )
        run(
          'INSERT INTO event (loop, n, at, fact, next) VALUES (?, ?, ?, ?, ?)',
          loop.id,
          number,
          fact.at,
          JSON.stringify(fact),
          JSON.stringify(loop.next),
        )
        if (fact.kind === 'turned' && loop.tally.iteration > Number(before.iteration))
          addIteration(loop, fact.turn, before, fact.at)
        if (fact.kind === 'checked') addVerdicts(loop, fact.verdicts)
        if (fact.kind === 'told' && fact.id !== undefined) run('DELETE FROM told WHERE id = ?', fact.id)
        return number
      })
      transcripts.addFact(loop.id, n, fact)
    },

    async told(id) {
      const row = one(
        `SELECT * FROM told WHERE loop = ? ORDER BY json_extract("order", '$.kind') <> 'cancel', id LIMIT 1`,
        id,
      )
      return row && { kind: 'told', at: now(), by: String(row.by), order: parse<Order>(row.order), id: Number(row.id) }
    },

    async close() {
      database.close()
    },
  }

  function addIteration(loop: Loop, turn: Turn, before: Row, endedAt: number): void {
    const asked = parse<Next>(before.next)
    const { tree } = parse<Tally>(before.tally)
    const changed = turn.tree === undefined || tree === undefined ? null : Number(turn.tree !== tree)
    run(
      'INSERT INTO iteration (loop, n, attempts, started_at, ended_at, agent, "end", claim, changed, tokens, cost_usd, words, files, added, removed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      loop.id,
      loop.tally.iteration,
      asked.kind === 'turn' ? asked.attempt : 1,
      Number(before.updated_at),
      endedAt,
      (asked.kind === 'turn' && asked.agent) || loop.spec.work.agent,
      turn.end,
      turn.claim.kind,
      changed,
      Math.round(turn.tokens),
      turn.costUsd ?? null,
      turn.words,
      turn.diff?.files ?? null,
      turn.diff?.added ?? null,
      turn.diff?.removed ?? null,
    )
  }

  function addVerdicts(loop: Loop, verdicts: readonly Verdict[]): void {
    for (const [position, { check, result, failures, tail }] of verdicts.entries())
      run(
        'INSERT OR REPLACE INTO check_result (loop, iteration, position, "check", result, failures, tail) VALUES (?, ?, ?, ?, ?, ?, ?)',
        loop.id,
        loop.tally.iteration,
        position,
        check,
        result,
        failures ?? null,
        tail,
      )
  }
}

export function unknownLoop(name: string): RalphError {
  return new RalphError('loop-unknown', `There is no loop "${name}". \`ralph status\` lists the loops.`)
}

export function beginningOf({ id, spec, tally }: Loop): { id: string; spec: Loop['spec']; at: number; tree?: string } {
  return { id, spec, at: tally.startedAt, ...(tally.startTree === undefined ? {} : { tree: tally.startTree }) }
}
