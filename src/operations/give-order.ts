/** Gives a loop an order: leaves it for the process that runs the loop, or carries it out here if none does. */
import { openBench } from '../drive/bench.ts'
import { type CheckHands, checkHands } from '../drive/check-hands.ts'
import { putBack } from '../drive/hands.ts'
import { checkpointsOf } from '../drive/rollback.ts'
import { takeUp } from '../drive/take-turn.ts'
import { type Visit, visit } from '../drive/visit.ts'
import type { Loop, Order } from '../engine/loop.ts'
import { holderOf, syncSession } from '../session/elsewhere.ts'
import { mustBeOpen } from './find-loop.ts'
import { type Context, selfIn } from './operation.ts'
import { ownerOf } from './owners.ts'

/** `driver`: the running process receives it. `session`: it takes effect when the session continues. `here`: it was carried out. */
export type Given = { loop: string; heard: 'driver' | 'session' | 'here'; session?: string }

/**
 * `checks`: also runs here what follows without an agent: checks and experiments. `leaves`: how the order
 * is stored, if other things must be stored with it.
 */
export async function giveOrder(
  context: Context,
  id: string,
  order: Order,
  { checks = false, by = 'you', leaves }: { checks?: boolean; by?: string; leaves?: () => Promise<unknown> } = {},
): Promise<Given> {
  const { home } = context
  const store = context.store()
  const { next } = await mustBeOpen(context, id)
  await (leaves?.() ?? store.tell(id, by, order))
  // The current turn of the session started without this message.
  if (order.kind === 'say' && next.kind === 'turn' && holderOf(home, id) !== undefined)
    return { loop: id, heard: 'driver' }
  const heard = await carryOut(context, await store.load(id), checks)
  const session = order.kind === 'say' ? holderOf(home, id) : undefined
  return session === undefined || heard === 'driver' ? { loop: id, heard } : { loop: id, heard: 'session', session }
}

async function carryOut(context: Context, { id, ...found }: Loop, checks: boolean): Promise<'driver' | 'here'> {
  const { now, home, root } = context
  const store = context.store()
  const rules = ownerOf(found)
  return visit<'driver' | 'here'>(id, {
    store,
    now,
    held: () => 'driver',
    ...(rules.takesTurns?.({ id, ...found }) === false ? {} : { takeUp: takeUp({ store, now, self: selfIn(root) }) }),
    async work(held) {
      const loop = await held.drive({
        ...(checks ? await checking(context, held) : {}),
        restore: (halting, next) => putBack(() => checkpointsOf(context, halting), next, held.now),
      })
      syncSession(home, loop)
      return 'here'
    },
    after: async (held) => rules.after?.({ ...context, store }, held),
  })
}

/** No callbacks, and only a cancel stops it. */
async function checking({ home, env, root, store }: Context, held: Visit): Promise<CheckHands> {
  const { signal: stop } = new AbortController()
  return checkHands(await openBench(held, { home, store: store(), env, stop, self: selfIn(root), show: () => {} }))
}
