/** Drives a loop here, as far as it goes: whoever its owner is, and whatever front asks for it. */
import { setFlagsFromString } from 'node:v8'
import type { Hands } from '../drive/drive.ts'
import { runHands, type Show, type Workbench } from '../drive/hands.ts'
import { checkpointsOf } from '../drive/rollback.ts'
import { takeUp } from '../drive/take-turn.ts'
import { type Visit, visit } from '../drive/visit.ts'
import type { Fact, Loop, Order } from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import { RalphError } from '../error.ts'
import { canStart, findChecks } from '../host/check.ts'
import { openTree, type Tree } from '../host/tree.ts'
import { type Context, selfIn } from './operation.ts'
import { ownerOf } from './owners.ts'

/** Who watches, and how it is stopped. */
export type Watching = {
  /** Ends the agent at once. */
  stop: AbortSignal
  begin(loop: Loop, place: { suggestion: string | undefined; checkpoints: Tree['checkpoints'] }): void
  show: Show
  say(text: string): void
  saw(loop: Loop, fact: Fact): void
}

/** `order` is what a person wants before it goes on. */
export async function driveLoop(context: Context, id: string, watching: Watching, order?: Order): Promise<Loop> {
  // What an agent prints is garbage at once. V8 would let its young generation grow to 130 MB for a flood of it.
  setFlagsFromString('--semi-space-growth-factor=1')
  const { now, root } = context
  const store = context.store()
  const rules = ownerOf(await store.load(id))
  return visit<Loop>(id, {
    store,
    now,
    takeUp: takeUp({ store, now, self: selfIn(root) }),
    since: (loop, lease) => rules.since?.(loop, lease, now()) ?? [],
    held(by) {
      throw new RalphError(
        'loop-held',
        `Loop ${id} is already being driven by ${by}. Watch it with \`ralph show ${id} --follow\`.`,
      )
    },
    work: (held) => work(context, held, watching, order),
    after: async (held) => rules.after?.({ ...context, store }, held),
  }).then(() => store.load(id))
}

async function work(context: Context, held: Visit, watching: Watching, order: Order | undefined): Promise<Loop> {
  const { home, env, root } = context
  const store = context.store()
  const { loop } = held
  if (loop.spec.work.worktree) await checkpointsOf(context, loop) // made again, should somebody have removed it
  const tree = await openTree({ ...loop.spec.work, home, loop: loop.id })
  const task = ownerOf(loop).turn?.(loop)
  const bench: Workbench = {
    store,
    tree,
    env,
    now: held.now,
    stop: watching.stop,
    lost: held.lease.lost,
    self: selfIn(root),
    show: watching.show,
    ...(task ? { task } : {}),
  }
  watching.begin(loop, { suggestion: findChecks(loop.spec.work.dir)[0], checkpoints: tree.checkpoints })
  for (const check of allChecks(loop.spec).filter((text) => !canStart(text, loop.spec.work.dir, env.PATH)))
    watching.say(
      `The program of the check "${check}" is not here yet. Without it the loop will halt (verifier-broken).`,
    )
  if (order) await store.tell(loop.id, 'you', order)
  return held.drive(handsOf(bench, watching))
}

/** Something may have happened to the loop meanwhile that comes instead of its next turn. */
function handsOf(bench: Workbench, { saw }: Watching): Hands {
  const hands = runHands(bench, saw)
  return {
    ...hands,
    turn: async (loop, next) => ownerOf(loop).instead?.(loop, bench.now()) ?? hands.turn?.(loop, next),
  }
}
