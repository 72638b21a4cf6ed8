/** Gives a loop more room: changes its limits while it is open, or resumes one that halted on a limit. */
import { wasAccepted } from '../drive/accept.ts'
import { visit } from '../drive/visit.ts'
import { endedOnLimit, extend } from '../engine/extend.ts'
import { ended, type Limits, type Loop, type Order } from '../engine/loop.ts'
import { agentsOf } from '../engine/roster.ts'
import { RalphError } from '../error.ts'
import { continueCommand } from '../formats/room-words.ts'
import { mustSuit } from './choose-agents.ts'
import { mustBeOpen } from './find-loop.ts'
import type { Context } from './operation.ts'
import { ownerOf } from './owners.ts'

/** All count from the start of the loop, like the limits it had. */
export type Room = Partial<Pick<Limits, 'iterations' | 'minutes' | 'tokens' | 'costUsd'>>

/** The loop with the new limits: one that halted on a limit continues with its next turn. */
export async function giveRoom(context: Context, id: string, limits: Room): Promise<Loop> {
  const store = context.store()
  const loop = await store.load(id)
  mustSuit(agentsOf(loop.spec), { limits })
  if (!ended(loop)) {
    await store.tell(id, 'you', { kind: 'limits', limits })
    return loop
  }
  await mustBeExtendable(context, loop)
  return visit<Loop>(id, {
    store,
    now: context.now,
    held(by) {
      throw new RalphError('loop-held', `Loop ${id} is in use by ${by}. Try again.`)
    },
    async work(held) {
      const order: Order = { kind: 'extend', limits, since: held.lease.movedAt }
      const at = held.now()
      if (ended(extend(held.loop, order, at))) throw noRoom(held.loop)
      return held.move({ kind: 'told', at, by: 'you', order })
    },
    after: async (held) => ownerOf(loop).after?.({ ...context, store }, held),
  })
}

async function mustBeExtendable(context: Context, loop: Loop): Promise<void> {
  if (!endedOnLimit(loop)) await mustBeOpen(context, loop.id)
  const refusal = ownerOf(loop).refuses?.(loop, { kind: 'extend' })
  if (refusal) throw refusal
  if (await wasAccepted(loop))
    throw new RalphError(
      'loop-state',
      `The work of loop ${loop.id} has been accepted and its worktree removed. Continue from it with \`ralph fork ${loop.id}\`.`,
    )
}

function noRoom(loop: Loop): RalphError {
  return new RalphError(
    'usage',
    `Loop ${loop.id} has already used what these limits allow. Raise them: ${continueCommand(loop)}`,
  )
}
