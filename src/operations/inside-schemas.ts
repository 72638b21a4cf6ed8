/** Schemas of the operations for the agent inside a loop. */
import * as z from 'zod'
import type { InsideTable } from './inside.ts'
import type { Operation } from './operation.ts'
import { line, whole, words } from './schema-parts.ts'

type Schemas = {
  [Name in keyof InsideTable]: InsideTable[Name] extends Operation<infer Input, infer Output>
    ? { input: z.ZodType<Input>; output: z.ZodType<Output> }
    : never
}

const said = words.min(1).regex(/\S/, 'must not be blank')
const heard = z.strictObject({ recorded: z.literal(true), next: z.string() })
const result = z.enum(['pass', 'fail', 'broken', 'timeout'])

export const INSIDE_SCHEMAS: Schemas = {
  report_stage: {
    input: z.strictObject({
      stage: line.min(1).exactOptional().describe('Default: the whole task.'),
      evidence: said.describe('Evidence: what you ran, and its output.'),
    }),
    output: heard,
  },
  report_blocked: { input: z.strictObject({ reason: said }), output: heard },
  ask_human: { input: z.strictObject({ question: said }), output: heard },
  create_task: {
    input: z.strictObject({
      title: line.min(1).max(200),
      description: z.string().max(100_000).nullable().exactOptional(),
      type: line.min(1).max(60).nullable().exactOptional(),
      labels: z.array(line.min(1).max(60)).max(50).exactOptional(),
      priority: z.number().int().min(-1_000).max(1_000).exactOptional(),
    }),
    output: z.strictObject({
      id: z.string(),
      title: z.string(),
      status: z.enum(['todo', 'in-progress', 'in-review', 'done', 'cancelled']),
    }),
  },
  get_context: {
    input: z.strictObject({}),
    output: z.strictObject({
      task: z.string(),
      promise: z.string(),
      iteration: whole,
      of: whole.nullable(),
      stages: z.array(z.strictObject({ name: z.string(), passed: z.boolean(), check: z.string().exactOptional() })),
      checks: z.array(
        z.strictObject({
          check: z.string(),
          before: result.exactOptional(),
          last: result.exactOptional(),
          failures: whole.exactOptional(),
          output: z.string().exactOptional(),
        }),
      ),
      feedback: z.array(z.string()),
    }),
  },
}
