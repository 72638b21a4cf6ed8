/** Sends a message to a loop. */
import type { Loop } from '../engine/loop.ts'
import { holderOf } from '../session/elsewhere.ts'
import { findLoop, mustBeOpen } from './find-loop.ts'
import { giveOrder } from './give-order.ts'
import { type Context, handOver, type Operation } from './operation.ts'
import { ownerOf } from './owners.ts'
import type { Resumed } from './resume.ts'

/** `later`: it receives the message when its owner continues it; `how` says how. */
export type Steered = Resumed | { loop: string; heard: 'later'; how: string }

export const steer: Operation<{ loop: string; words: string }, Steered> = {
  name: 'steer',
  effect: 'write',
  summary: 'Sends a message to a loop for its next iteration. A loop waiting for an answer continues with it.',
  agent: { tool: 'steer_loop' },
  async run(context, { loop: name, words }) {
    const loop = await mustBeOpen(context, await findLoop(context, name))
    const order = { kind: 'say', words } as const
    return sayTo(context, loop, { words, leaves: () => context.store().tell(loop.id, 'you', order) })
  },
}

/** `leaves`: how the order is stored for the loop. */
type Saying = { words: string; leaves: () => Promise<unknown> }

/** The next iteration gets the message; a loop that waits for an answer continues. */
export async function sayTo(context: Context, loop: Loop, { words, leaves }: Saying): Promise<Steered> {
  const { id, next } = loop
  const order = { kind: 'say', words } as const
  const driven = await context.store().isDriven(id)
  const rules = ownerOf(loop)
  const how = driven ? undefined : rules.receivesLater?.(loop)
  if (how !== undefined) {
    await leaves()
    return { loop: id, heard: 'later', how }
  }
  const asks = next.kind === 'wait' && next.why === 'person' && !driven && holderOf(context.home, id) === undefined
  if (!asks) return giveOrder(context, id, order, { leaves })
  const refusal = rules.refuses?.(loop, { kind: 'answer', words })
  if (refusal) throw refusal
  // Whatever takes its turns notices the answer.
  if (rules.takesTurns?.(loop) === false) return giveOrder(context, id, order, { leaves })
  await leaves()
  return handOver(context, loop)
}
