/** Pauses a loop. */
import { findOpenLoops } from './find-loop.ts'
import { type Given, giveOrder } from './give-order.ts'
import type { Operation } from './operation.ts'

export const pause: Operation<{ loop?: string }, Given[]> = {
  name: 'pause',
  effect: 'write',
  summary: 'Pauses a loop, or all open loops of a project, after the current iteration.',
  agent: { tool: 'pause_loop', idempotent: true },
  run: async (context, { loop }) =>
    Promise.all((await findOpenLoops(context, loop)).map((id) => giveOrder(context, id, { kind: 'pause' }))),
}
