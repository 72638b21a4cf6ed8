/** Schemas of the operations behind the page. */
import * as z from 'zod'
import type { HaltReason, Status } from '../engine/loop.ts'
import type { BoardStatus } from '../formats/board-task.ts'
import { tried } from './iteration-schemas.ts'
import { amount, argument, loopName, name, owner, path, type SchemasOf, whole } from './schema-parts.ts'

const yes = z.literal(true).exactOptional()

const bar = z.strictObject({
  n: whole,
  ms: z.number(),
  result: z.enum(['pass', 'fail', 'none', 'crash']).describe('none: no check ran; crash: the agent failed.'),
  failures: z.number().exactOptional(),
  claimed: yes,
  refused: yes.describe('Its claim was refused.'),
  worse: yes.describe('More failures than at the previous checks.'),
  weakened: yes.describe('Tests or check configuration were changed, deleted or skipped.'),
  idle: yes.describe('It changed nothing.'),
})

const counted = z.record(z.string(), whole)

const need = z.strictObject({
  loop: z.string(),
  n: whole.describe('Number of its last event.'),
  since: z.number(),
  kind: z.enum(['question', 'permission', 'allow', 'approval', 'conflict', 'stuck', 'review', 'unattended']),
  title: z.string(),
  dir: z.string(),
  agent: z.string(),
  owner,
  task_id: z.string().exactOptional(),
  iteration: whole,
  sentence: z.string(),
  question: z.string().exactOptional(),
  paths: z.array(z.strictObject({ path: z.string(), words: z.string() })).exactOptional(),
  reason: (z.string() as unknown as z.ZodType<HaltReason>).exactOptional(),
  unread: z.boolean(),
})

const seen = z.strictObject({ loop: loopName, n: whole.describe('Number of the last event seen.') })

type PageOperation = 'list_strips' | 'get_overview' | 'list_needs' | 'mark_seen' | 'try_checks' | 'trust_config'

export const PAGE_SCHEMAS: SchemasOf<PageOperation> = {
  get_overview: {
    input: z.strictObject({}),
    output: z.strictObject({
      loops: whole,
      byStatus: counted as unknown as z.ZodType<Partial<Record<Status, number>>>,
      tasks: (counted as unknown as z.ZodType<Partial<Record<BoardStatus, number>>>).describe('Not archived.'),
      folders: z.array(z.strictObject({ dir: z.string(), loops: whole })).describe('Most recently used first.'),
      needsYou: whole,
      unread: whole,
      todayUsd: z.number().describe('Cost of the iterations that ended since midnight.'),
    }),
  },
  list_needs: { input: z.strictObject({}), output: z.strictObject({ needs: z.array(need) }) },
  mark_seen: { input: seen, output: seen },
  try_checks: {
    input: z.strictObject({
      dir: path.exactOptional(),
      task_id: name.exactOptional().describe('A task on the board; its folder is used unless you give another.'),
      checks: z.array(argument.min(1)).min(1).max(50).describe("auto finds the folder's own."),
      minutes: amount.exactOptional().describe('Time limit of each.'),
    }),
    output: z.strictObject({ dir: z.string(), ran: z.array(tried) }),
  },
  trust_config: {
    input: z.strictObject({ dir: path.exactOptional() }),
    output: z.strictObject({ dir: z.string(), paths: z.array(z.string()).describe('What is trusted from now on.') }),
  },
  list_strips: {
    input: z.strictObject({
      loops: z.array(name).min(1).max(200).describe('Whole ids; unknown ones are left out.'),
      most: whole.min(1).max(60).exactOptional().describe('Iterations per loop. Default 24.'),
    }),
    output: z.strictObject({ strips: z.array(z.strictObject({ loop: z.string(), bars: z.array(bar) })) }),
  },
}
