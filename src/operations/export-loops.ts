/** Loops as a table for spreadsheets: one row per loop. */
import type { LoopNumbers } from '../analytics/numbers.ts'
import { type Cell, printCsv } from '../formats/csv.ts'
import { type AnalyticsFilter, placed } from './get-analytics.ts'
import type { Operation } from './operation.ts'

export const exportLoops: Operation<AnalyticsFilter, { csv: string }> = {
  name: 'export_loops',
  effect: 'read',
  summary: 'Exports loops as CSV, one row per loop, newest first.',
  async run(context, filter) {
    const loops = await context.store().numbers(placed(context, filter))
    const columns = Object.entries(COLUMNS)
    return { csv: printCsv([columns.map(([name]) => name), ...loops.map((loop) => columns.map(([, of]) => of(loop)))]) }
  },
}

const time = (at: number) => new Date(at).toISOString()

const COLUMNS: Readonly<Record<string, (loop: LoopNumbers) => Cell>> = {
  loop_id: ({ id }) => id,
  started_at: ({ startedAt }) => time(startedAt),
  updated_at: ({ updatedAt }) => time(updatedAt),
  status: ({ status }) => status,
  reason: ({ reason }) => reason,
  proof: ({ proof }) => proof,
  agent: ({ agent }) => agent,
  owner: ({ owner }) => owner,
  type: ({ type }) => type,
  size: ({ size }) => size,
  dir: ({ dir }) => dir,
  iterations: ({ iterations }) => iterations,
  iteration_limit: ({ iterationLimit }) => iterationLimit,
  false_claims: ({ falseClaims }) => falseClaims,
  bent_claims: ({ bent }) => bent,
  findings: ({ findings }) => findings,
  // Empty: the agent does not report them.
  tokens: ({ tokens }) => tokens || undefined,
  cost_usd: ({ costUsd }) => costUsd || undefined,
}
