/** Schemas of the operations that look at many loops at once. */
import * as z from 'zod'
import type { FindingKind } from '../engine/loop.ts'
import { GRADES } from '../engine/loop.ts'
import { argument, line, maybe, name, owner, path, type SchemasOf, whole } from './schema-parts.ts'

const time = z.number().int().min(0).max(8.64e15).describe('Milliseconds since 1970.')
const rate = z.number().min(0).max(1)
const usd = z.number()

const filter = z.strictObject({
  since: time.exactOptional().describe('Loops that started at or after this time, in milliseconds since 1970.'),
  until: time.exactOptional().describe('Loops that started before this time.'),
  dir: path.exactOptional(),
  agent: argument.min(1).exactOptional(),
  type: line.min(1).exactOptional(),
  owner: owner.exactOptional(),
  project_id: line.min(1).exactOptional().describe('A group of the board.'),
})

const share = z.strictObject({
  count: whole,
  of: whole,
  rate: rate.exactOptional(),
  low: rate.exactOptional().describe('Bound of the 95% interval.'),
  high: rate.exactOptional(),
})
const spread = z.strictObject({ loops: whole, mean: z.number(), median: z.number(), p90: z.number() })
const group = z.strictObject({
  name: z.string().nullable(),
  loops: whole,
  success: share,
  iterations: maybe(spread),
  falseClaims: whole,
  tokens: z.number(),
  costUsd: usd,
})

const analytics = z.strictObject({
  loops: whole,
  byStatus: z.record(z.string(), whole),
  success: share,
  byGrade: z.array(share.extend({ grade: z.enum(GRADES) })),
  stops: z.array(z.strictObject({ reason: z.string(), loops: whole })),
  iterations: z.strictObject({
    total: whole,
    toDone: maybe(spread),
    histogram: z.array(z.strictObject({ iterations: whole, completed: whole, stopped: whole })),
  }),
  finishing: z.array(
    z.strictObject({ iteration: whole, reached: whole, finished: whole, by: rate, open: rate, still: rate }),
  ),
  byAgent: z.array(group),
  byType: z.array(group),
  bySize: z.array(group),
  cost: z.strictObject({
    totalUsd: usd,
    completed: whole,
    perCompletedUsd: maybe(usd),
    withFailuresUsd: maybe(usd),
    onNothingUsd: usd,
  }),
  tokens: z.strictObject({ total: z.number(), input: z.number(), cached: z.number(), output: z.number() }),
  falseClaims: z.strictObject({ claims: whole, loops: share }),
  weakened: z.strictObject({
    refused: whole,
    loops: share,
    altered: whole,
    findings: z.array(z.strictObject({ kind: z.string() as unknown as z.ZodType<FindingKind>, loops: whole })),
  }),
  checks: z.array(z.strictObject({ check: z.string(), runs: whole, failures: whole, rate })),
  days: z.array(
    z.strictObject({
      day: z.string(),
      loops: whole,
      completed: whole,
      verified: whole,
      halted: whole,
      iterations: whole,
      falseClaims: whole,
      costUsd: usd,
    }),
  ),
})

const forecast = z.strictObject({
  chance: z.strictObject({ rate, low: rate, high: rate }),
  iterations: z.strictObject({ median: z.number(), p90: z.number() }).exactOptional(),
  costUsd: z.strictObject({ low: usd, median: usd, high: usd, loops: whole }).exactOptional(),
  iterationUsd: usd.exactOptional(),
})

export const ANALYTICS_SCHEMAS: SchemasOf<'get_analytics' | 'export_loops' | 'get_forecast'> = {
  get_analytics: { input: filter, output: analytics },
  export_loops: { input: filter, output: z.strictObject({ csv: z.string() }) },
  get_forecast: {
    input: z.strictObject({
      loop: name.exactOptional().describe('A running loop. Without it: describe a new one.'),
      task_id: name.exactOptional().describe('A task on the board; other fields override it.'),
      prompt: z.string().exactOptional(),
      dir: path.exactOptional(),
      agent: argument.min(1).exactOptional(),
      type: line.min(1).exactOptional(),
      stages: z
        .array(z.strictObject({ name: line.min(1).max(200), check: argument.min(1).exactOptional() }))
        .exactOptional(),
      iterations: whole.exactOptional().describe('Limit. Default: as for a new loop; 0: no limit.'),
      adaptive: z.boolean().exactOptional().describe('Estimate the limit from the task; `iterations` is the ceiling.'),
    }),
    output: z.strictObject({
      done: whole,
      limit: whole,
      enough: z.boolean(),
      loops: whole,
      by: z.array(z.enum(['dir', 'agent', 'type', 'size'])),
      size: z.enum(['S', 'M', 'L', 'XL']).exactOptional().describe('Estimated size of the task.'),
      forecast: forecast.exactOptional(),
      sentence: z.string(),
    }),
  },
}
