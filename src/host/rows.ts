/** Rows of the database as values. ralph wrote them itself, in one transaction each, so they are trusted. */
import type { Claim, Loop, Next, Spec, Status, Tally, Turn, Verdict } from '../engine/loop.ts'
import type { IterationRow, LoopRow, StoredEvent, Totals } from './store.ts'

export type Row = Record<string, unknown>

export function parse<Value>(json: unknown): Value {
  return JSON.parse(String(json)) as Value
}

export function toLoop(row: Row): Loop {
  return {
    id: String(row.id),
    spec: parse<Spec>(row.spec),
    tally: parse<Tally>(row.tally),
    next: parse<Next>(row.next),
  }
}

export function toLoopRow(row: Row): LoopRow {
  return {
    id: String(row.id),
    dir: String(row.dir),
    agent: String(row.agent),
    prompt: String(row.prompt),
    status: row.status as Status,
    next: parse<Next>(row.next),
    iteration: Number(row.iteration),
    iterationLimit: Number(row.iteration_limit),
    falseClaims: Number(row.false_claims),
    tokens: Number(row.tokens),
    costUsd: Number(row.cost_usd),
    startedAt: Number(row.started_at),
    updatedAt: Number(row.updated_at),
  }
}

export function toEvent(row: Row): StoredEvent {
  return {
    seq: Number(row.seq),
    loop: String(row.loop),
    n: Number(row.n),
    at: Number(row.at),
    fact: parse(row.fact),
    next: parse(row.next),
  }
}

export function toIteration(row: Row, verdicts: readonly Row[]): IterationRow {
  return {
    n: Number(row.n),
    attempts: Number(row.attempts),
    startedAt: Number(row.started_at),
    endedAt: Number(row.ended_at),
    agent: String(row.agent),
    end: row.end as Turn['end'],
    claim: row.claim as Claim['kind'],
    changed: row.changed === null ? undefined : row.changed === 1,
    diff:
      row.files === null
        ? undefined
        : { files: Number(row.files), added: Number(row.added), removed: Number(row.removed) },
    tokens: Number(row.tokens),
    costUsd: row.cost_usd === null ? undefined : Number(row.cost_usd),
    words: String(row.words),
    verdicts: verdicts.map(toVerdict),
  }
}

function toVerdict(row: Row): Verdict {
  return {
    check: String(row.check),
    result: row.result as Verdict['result'],
    ...(row.failures === null ? {} : { failures: Number(row.failures) }),
    tail: String(row.tail),
  }
}

/** `ask` runs a query. */
export function readTotals(ask: (sql: string) => Row[]): Totals {
  const [sum = {}] =
    ask(`SELECT count(*) AS loops, coalesce(sum(false_claims), 0) AS false_claims, coalesce(sum(iteration), 0) AS iterations,
    coalesce(sum(tokens), 0) AS tokens, coalesce(sum(cost_usd), 0) AS cost_usd, count(*) FILTER (WHERE proof = 'verified') AS verified,
    count(*) FILTER (WHERE proof = 'claimed') AS claimed, avg(iteration) FILTER (WHERE status = 'completed') AS mean FROM loop`)
  return {
    loops: Number(sum.loops),
    byStatus: counts(
      ask('SELECT status AS name, count(*) AS number FROM loop GROUP BY status ORDER BY number DESC, name'),
    ),
    byReason: counts(
      ask(
        'SELECT reason AS name, count(*) AS number FROM loop WHERE reason IS NOT NULL GROUP BY reason ORDER BY number DESC, name',
      ),
    ),
    verified: Number(sum.verified),
    claimed: Number(sum.claimed),
    falseClaims: Number(sum.false_claims),
    iterations: Number(sum.iterations),
    meanIterationsToDone: sum.mean === null ? undefined : Number(sum.mean),
    tokens: Number(sum.tokens),
    costUsd: Number(sum.cost_usd),
    byAgent:
      ask(`SELECT agent, count(*) AS loops, count(*) FILTER (WHERE status = 'completed') AS completed, sum(iteration) AS iterations,
      sum(cost_usd) AS cost_usd FROM loop GROUP BY agent ORDER BY loops DESC, agent`).map((row) => ({
        agent: String(row.agent),
        loops: Number(row.loops),
        completed: Number(row.completed),
        iterations: Number(row.iterations),
        costUsd: Number(row.cost_usd),
      })),
  }
}

function counts(rows: readonly Row[]): Record<string, number> {
  return Object.fromEntries(rows.map((row) => [String(row.name), Number(row.number)]))
}
