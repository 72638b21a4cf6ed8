/** Changes the limits of a running loop. */
import { refuseBelowTurn } from './below-turn.ts'
import { findLoop } from './find-loop.ts'
import { giveOrder } from './give-order.ts'
import type { Operation } from './operation.ts'

export const setLimits: Operation<{ loop: string; iterations: number }, { loop: string; iterations: number }> = {
  name: 'set_limits',
  effect: 'write',
  person: true,
  summary: 'Sets the iteration limit of a loop; 0: no limit.',
  async run(context, { loop: name, iterations }) {
    await refuseBelowTurn(context)
    const id = await findLoop(context, name)
    await giveOrder(context, id, { kind: 'limits', limits: { iterations } })
    return { loop: id, iterations }
  },
}
