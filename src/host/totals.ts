/** The sums over all loops. */
import type { Grade } from '../engine/loop.ts'
import type { Row } from './rows.ts'
import type { Totals } from './store.ts'

/** `ask` runs a query. */
export function readTotals(ask: (sql: string) => Row[]): Totals {
  const [sum = {}] =
    ask(`SELECT count(*) AS loops, coalesce(sum(false_claims), 0) AS false_claims, coalesce(sum(iteration), 0) AS iterations,
    coalesce(sum(tokens), 0) AS tokens, coalesce(sum(cost_usd), 0) AS cost_usd, avg(iteration) FILTER (WHERE status = 'completed') AS mean FROM loop`)
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
    byProof: {
      ...NO_PROOFS,
      ...counts(ask('SELECT proof AS name, count(*) AS number FROM loop WHERE proof IS NOT NULL GROUP BY proof')),
    },
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

const NO_PROOFS: Record<Grade, number> = { verified: 0, tested: 0, kept: 0, altered: 0, claimed: 0 }

function counts(rows: readonly Row[]): Record<string, number> {
  return Object.fromEntries(rows.map((row) => [String(row.name), Number(row.number)]))
}
