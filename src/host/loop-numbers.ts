/** The queries for analytics. The index `loop_numbers` covers all of them, so that specs and tallies are not read. */
import type { LoopNumbers, Sums } from '../analytics/numbers.ts'
import type { FindingKind, Grade, HaltReason, OwnerKind, Size, Status } from '../engine/loop.ts'
import type { Asking } from './asking.ts'
import type { Row } from './rows.ts'
import { BENT, FINDINGS } from './schema.ts'
import type { NumbersFilter, Store } from './store.ts'

const LOOPS = 'FROM loop INDEXED BY loop_numbers'
export const MOST_CHECKS = 20

export function loopNumbers(asking: Asking): Pick<Store, 'numbers' | 'sums'> {
  return {
    async numbers({ limit = -1, ...filter } = {}) {
      const { where, values } = numbersWhere(filter, TASKS_OF_GROUP)
      return asking
        .all(
          `SELECT id, dir, agent, owner, type, size, status, reason, proof, iteration, iteration_limit, false_claims, tokens, cost_usd,
           started_at, updated_at, ${BENT} AS bent, ${FINDINGS} AS findings ${LOOPS} ${where} ORDER BY started_at DESC LIMIT ?`,
          ...values,
          limit,
        )
        .map(toNumbers)
    },
    sums: async (filter = {}) => readSums(asking, filter),
  }
}

function readSums({ all }: Asking, filter: NumbersFilter): Sums {
  const { where, values } = numbersWhere(filter, TASKS_OF_GROUP)
  const own = where === '' ? 'true' : `loop IN (SELECT id ${LOOPS} ${where})`
  const [usage = {}] = all(
    `SELECT total(tokens_in) AS input, total(tokens_cached) AS cached, total(tokens_out) AS output FROM iteration WHERE ${own}`,
    ...values,
  )
  // The plus keeps SQLite on the small index: looking up the checks of each loop takes twice as long if most loops are
  // wanted.
  const checks = all(
    `SELECT "check", count(*) AS runs, count(*) FILTER (WHERE result <> 'pass') AS failed FROM check_result
     WHERE iteration > 0 AND +${own} GROUP BY "check" HAVING failed > 0 ORDER BY failed DESC, "check" LIMIT ${MOST_CHECKS}`,
    ...values,
  )
  const findings = all(
    `SELECT CASE found.type WHEN 'object' THEN found.value ->> 'kind' END AS kind, count(DISTINCT loop.id) AS loops ${LOOPS}, json_each(CASE json_valid(tally) WHEN 1 THEN tally ELSE '{}' END, '$.findings') AS found
     ${where === '' ? 'WHERE' : `${where} AND`} ${FINDINGS} > 0 GROUP BY kind HAVING kind IS NOT NULL ORDER BY loops DESC, kind`,
    ...values,
  )
  return toSums({ usage, checks, findings })
}

export function toSums({
  usage,
  checks,
  findings,
}: {
  usage: Row
  checks: readonly Row[]
  findings: readonly Row[]
}): Sums {
  return {
    usage: { input: Number(usage.input), cached: Number(usage.cached), output: Number(usage.output) },
    checks: checks.map((row) => ({
      check: String(row.check),
      runs: Number(row.runs),
      failures: Number(row.failed),
    })),
    findings: findings.map((row) => ({ kind: row.kind as FindingKind, loops: Number(row.loops) })),
  }
}

type Conditions = { where: string; values: (string | number)[] }

const TASKS_OF_GROUP = `loop.owner = 'board' AND CASE json_valid(spec) WHEN 1 THEN json_extract(spec, '$.work.owner.task') END IN (SELECT id FROM board_task WHERE project_id = ?)`

/** `ofGroup`: the loops of tasks in a group of the board. */
export function numbersWhere(
  { since, until, project_id, ended, ...same }: Omit<NumbersFilter, 'limit'>,
  ofGroup: string,
): Conditions {
  const conditions: Asked[] = [
    ['loop.started_at >= ?', since],
    ['loop.started_at < ?', until],
    [ofGroup, project_id],
    ...(['dir', 'agent', 'type', 'size', 'owner'] as const).map((name): Asked => [`loop.${name} = ?`, same[name]]),
  ]
  const asked = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]))
  const all = [...asked.map(({ sql }) => sql), ...(ended ? [`loop.status IN ('completed', 'halted')`] : [])]
  return { where: all.length === 0 ? '' : `WHERE ${all.join(' AND ')}`, values: asked.map(({ value }) => value) }
}

type Asked = [sql: string, value: string | number | undefined]

export function toNumbers(row: Row): LoopNumbers {
  return {
    id: String(row.id),
    dir: String(row.dir),
    agent: String(row.agent),
    owner: row.owner as OwnerKind,
    ...(row.type === null ? {} : { type: String(row.type) }),
    ...(row.size === null ? {} : { size: row.size as Size }),
    status: row.status as Status,
    ...(row.reason === null ? {} : { reason: row.reason as HaltReason }),
    ...(row.proof === null ? {} : { proof: row.proof as Grade }),
    iterations: Number(row.iteration),
    iterationLimit: Number(row.iteration_limit),
    falseClaims: Number(row.false_claims),
    bent: Number(row.bent),
    findings: Number(row.findings),
    tokens: Number(row.tokens),
    costUsd: Number(row.cost_usd),
    startedAt: Number(row.started_at),
    updatedAt: Number(row.updated_at),
  }
}
