/** Says something to a loop. */
import { holderOf } from '../session/elsewhere.ts'
import { findLoop, mustBeOpen } from './find-loop.ts'
import { giveOrder } from './give-order.ts'
import type { Operation } from './operation.ts'
import { ownerOf } from './owners.ts'
import type { Resumed } from './resume.ts'

/** `later`: it hears it when its owner goes on; `how` tells the way. */
export type Steered = Resumed | { loop: string; heard: 'later'; how: string }

export const steer: Operation<{ loop: string; words: string }, Steered> = {
  name: 'steer',
  effect: 'write',
  summary: 'Sends a message to a loop for its next iteration. A loop that waits for an answer continues with it.',
  async run(context, { loop: name, words }) {
    const store = context.store()
    const id = await findLoop(context, name)
    const loop = await mustBeOpen(context, id)
    const driven = await store.isDriven(id)
    const rules = ownerOf(loop)
    const order = { kind: 'say', words } as const
    const how = driven ? undefined : rules.hearsLater?.(loop)
    if (how !== undefined) {
      await store.tell(id, 'you', order)
      return { loop: id, heard: 'later', how }
    }
    const { next } = loop
    const asks = next.kind === 'wait' && next.why === 'person' && !driven && holderOf(context.home, id) === undefined
    if (!asks) return giveOrder(context, id, order)
    const refusal = rules.refuses?.(loop, { kind: 'answer', words })
    if (refusal) throw refusal
    // Whoever does take them sees it go on.
    if (rules.takesTurns?.(loop) === false) return giveOrder(context, id, order)
    await store.tell(id, 'you', order)
    return { loop: id, heard: 'nobody' }
  },
}
