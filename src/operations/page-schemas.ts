/** What goes into the operations that a page is made of, and what comes out. */
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
  refused: yes.describe('Its claim was judged, and not accepted.'),
  worse: yes.describe('More failures are open than after the checks before.'),
  weakened: yes.describe('Tests or configuration of the checks were changed, deleted or skipped.'),
  idle: yes.describe('It changed nothing.'),
})

const counted = z.record(z.string(), whole)

const need = z.strictObject({
  loop: z.string(),
  n: whole.describe('The number of its last event.'),
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

const seen = z.strictObject({ loop: loopName, n: whole.describe('The number of the last event that was seen.') })

type PageOperation = 'list_strips' | 'get_overview' | 'list_needs' | 'mark_seen' | 'try_checks' | 'trust_config'

export const PAGE_SCHEMAS: SchemasOf<PageOperation> = {
  get_overview: {
    input: z.strictObject({}),
    output: z.strictObject({
      loops: whole,
      byStatus: counted as unknown as z.ZodType<Partial<Record<Status, number>>>,
      tasks: (counted as unknown as z.ZodType<Partial<Record<BoardStatus, number>>>).describe('Not archived.'),
      folders: z.array(z.strictObject({ dir: z.string(), loops: whole })).describe('The most recently used first.'),
      needsYou: whole,
      unread: whole,
      todayUsd: z.number().describe('The cost of the iterations that ended since midnight.'),
    }),
  },
  list_needs: { input: z.strictObject({}), output: z.strictObject({ needs: z.array(need) }) },
  mark_seen: { input: seen, output: seen },
  try_checks: {
    input: z.strictObject({
      dir: path.exactOptional(),
      task_id: name.exactOptional().describe('A task of the board: in its folder, unless another one is named.'),
      checks: z.array(argument.min(1)).min(1).max(50).describe('auto finds the own ones of the folder.'),
      minutes: amount.exactOptional().describe('How long each may take.'),
    }),
    output: z.strictObject({ dir: z.string(), ran: z.array(tried) }),
  },
  trust_config: {
    input: z.strictObject({ dir: path.exactOptional() }),
    output: z.strictObject({ dir: z.string(), paths: z.array(z.string()).describe('What counts from now on.') }),
  },
  list_strips: {
    input: z.strictObject({
      loops: z.array(name).min(1).max(200).describe('Whole ids; unknown ones are left out.'),
      most: whole.min(1).max(60).exactOptional().describe('Iterations of each loop. Default 24.'),
    }),
    output: z.strictObject({ strips: z.array(z.strictObject({ loop: z.string(), bars: z.array(bar) })) }),
  },
}
