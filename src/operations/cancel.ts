/** Ends a loop for good. */
import { findOpenLoops } from './find-loop.ts'
import { type Given, giveOrder } from './give-order.ts'
import type { Operation } from './operation.ts'

export const cancel: Operation<{ loop?: string }, Given[]> = {
  name: 'cancel',
  effect: 'destroy',
  summary: 'Cancels a loop, or all open loops of a project. A running agent is stopped at once.',
  agent: { tool: 'stop_loop', idempotent: true },
  run: async (context, { loop }) =>
    Promise.all((await findOpenLoops(context, loop)).map((id) => giveOrder(context, id, { kind: 'cancel' }))),
}
