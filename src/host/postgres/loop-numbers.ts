/** The queries for analytics, in Postgres. */
import type { Sums } from '../../analytics/numbers.ts'
import { MOST_CHECKS, numbersWhere, toNumbers, toSums } from '../loop-numbers.ts'
import type { NumbersFilter, Store } from '../store.ts'
import type { PgAsking } from './asking.ts'
import { numbered } from './paging.ts'

const TASKS_OF_GROUP = `loop.owner = 'board' AND loop.owner_task IN (SELECT id FROM board_task WHERE project_id = ?)`

export function loopNumbers(asking: PgAsking): Pick<Store, 'numbers' | 'sums'> {
  return {
    async numbers({ limit, ...filter } = {}) {
      const { where, values } = numbersWhere(filter, TASKS_OF_GROUP)
      const sql = `SELECT id, dir, agent, owner, type, size, status, reason, proof, iteration, iteration_limit,
        false_claims, tokens, cost_usd, started_at, updated_at, bent, findings FROM loop ${where}
        ORDER BY started_at DESC LIMIT ?`
      return (await asking.all(numbered(sql), ...values, limit ?? null)).map(toNumbers)
    },
    sums: async (filter = {}) => readSums(asking, filter),
  }
}

async function readSums({ all }: PgAsking, filter: NumbersFilter): Promise<Sums> {
  const { where, values } = numbersWhere(filter, TASKS_OF_GROUP)
  const own = where === '' ? 'true' : `loop IN (SELECT id FROM loop ${where})`
  const total = (column: string) => `coalesce(sum(${column}), 0)`
  const [usage = {}] = await all(
    numbered(
      `SELECT ${total('tokens_in')} AS input, ${total('tokens_cached')} AS cached, ${total('tokens_out')} AS output
       FROM iteration WHERE ${own}`,
    ),
    ...values,
  )
  const checks = await all(
    numbered(
      `SELECT "check", count(*) AS runs, count(*) FILTER (WHERE result <> 'pass') AS failed FROM check_result
       WHERE iteration > 0 AND ${own} GROUP BY "check" HAVING count(*) FILTER (WHERE result <> 'pass') > 0
       ORDER BY failed DESC, "check" LIMIT ${MOST_CHECKS}`,
    ),
    ...values,
  )
  const findings = await all(
    numbered(
      `SELECT kind COLLATE "C" AS kind, count(DISTINCT loop.id) AS loops FROM loop, unnest(finding_kinds) AS kind
       ${where} GROUP BY 1 ORDER BY loops DESC, 1`,
    ),
    ...values,
  )
  return toSums({ usage, checks, findings })
}
