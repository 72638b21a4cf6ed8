/** What goes into the operations that a page is made of, and what comes out. */
import * as z from 'zod'
import { name, type SchemasOf, whole } from './schema-parts.ts'

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

export const PAGE_SCHEMAS: SchemasOf<'list_strips'> = {
  list_strips: {
    input: z.strictObject({
      loops: z.array(name).min(1).max(200).describe('Whole ids; unknown ones are left out.'),
      most: whole.min(1).max(60).exactOptional().describe('Iterations of each loop. Default 24.'),
    }),
    output: z.strictObject({ strips: z.array(z.strictObject({ loop: z.string(), bars: z.array(bar) })) }),
  },
}
