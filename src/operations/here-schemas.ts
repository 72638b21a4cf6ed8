/** Schemas of the operations that look around on this machine. */
import * as z from 'zod'
import { BOARD_STATUSES } from '../formats/board-task.ts'
import { name, type SchemasOf, status, whole } from './schema-parts.ts'
import { LONGEST_WAIT_SECONDS } from './wait-loop.ts'

const FACTS = ['turned', 'checked', 'proved', 'woke', 'restored', 'lost', 'told', 'asked', 'moved', 'adopted'] as const

export const HERE_SCHEMAS: SchemasOf<'get_context' | 'list_executors' | 'wait_loop'> = {
  get_context: {
    input: z.strictObject({}),
    output: z.strictObject({
      dir: z.string(),
      fleet: z.boolean(),
      server: z.string().nullable(),
      agents: z.array(z.string()),
      loops: z.array(z.strictObject({ id: z.string(), status, iteration: whole, title: z.string() })),
      tasks: z.array(
        z.strictObject({
          id: z.string(),
          title: z.string(),
          status: z.enum(BOARD_STATUSES),
          loop_id: z.string().nullable(),
        }),
      ),
    }),
  },
  list_executors: {
    input: z.strictObject({}),
    output: z.strictObject({
      executors: z.array(
        z.strictObject({
          name: z.string(),
          state: z.enum(['ready', 'needs-login', 'unknown', 'not-found']),
          path: z.string().exactOptional(),
          version: z.string().exactOptional(),
          tested: z.string(),
          can: z.array(z.string()),
          install: z.string(),
        }),
      ),
    }),
  },
  wait_loop: {
    input: z.strictObject({
      loop: name,
      after: whole.exactOptional().describe('`seq` of the last answer. Default: from now on.'),
      seconds: z.number().min(0).max(LONGEST_WAIT_SECONDS).exactOptional(),
    }),
    output: z.strictObject({
      loop: z.string(),
      status,
      sentence: z.string(),
      stillRunning: z.boolean(),
      unattended: z.boolean(),
      seq: whole,
      events: z.array(z.strictObject({ seq: whole, at: z.string(), kind: z.enum(FACTS), words: z.string() })),
    }),
  },
}
