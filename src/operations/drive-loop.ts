/** Drives a loop here, as far as it goes: whoever its owner is, and whatever front asks for it. */
import { openBench } from '../drive/bench.ts'
import type { Hands } from '../drive/drive.ts'
import { runHands, type Show, type Workbench } from '../drive/hands.ts'
import { removeLeftPlaces } from '../drive/left-places.ts'
import { takeUp } from '../drive/take-turn.ts'
import { type Visit, visit } from '../drive/visit.ts'
import { ended, type Fact, type Loop } from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import { RalphError } from '../error.ts'
import { canStart, findChecks } from '../host/check.ts'
import type { Lease } from '../host/store.ts'
import { holdTask } from '../host/task-traces.ts'
import type { Tree } from '../host/tree.ts'
import { given } from '../request/given.ts'
import { letGo } from '../session/elsewhere.ts'
import { beginQueued } from './begin-queued.ts'
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
  /** A wait for an agent is not sat out here: whoever comes back when its time is over goes on. */
  leavesWaits?: boolean
  /** From then on no turn is begun. */
  rest?: AbortSignal
  /** How it gets to this machine, where it was asked for elsewhere. Absent: what it works on is here. */
  arrive?(loop: Loop, lease: Lease, at: number): Promise<Fact[]>
  /** What must be done with a turn, or with the checks before any work, before they are saved. */
  carry?(loop: Loop, turned: Fact, lease: Lease): Promise<Fact>
}

export async function driveLoop(context: Context, id: string, watching: Watching): Promise<Loop> {
  const { now, root } = context
  const store = context.store()
  const rules = ownerOf(await store.load(id))
  await removeLeftPlaces(context.home, id)
  let here: ReturnType<typeof holdTask>
  const driven = visit<Loop>(id, {
    store,
    now,
    async take() {
      const lease = await store.lease(id)
      // A lease in Postgres says nothing to others who clear away in this home. Whoever lets a task arrive has told them.
      if ('heldBy' in lease || !store.shared || watching.arrive) return lease
      here = holdTask(context.home, id)
      if (here) return lease
      await lease.release()
      return { heldBy: 'another process on this machine' }
    },
    takeUp: takeUp({ store, now, self: selfIn(root) }),
    since: async (loop, lease, at) => [
      ...(await (watching.arrive?.(loop, lease, at) ?? beginQueued(context, loop, at))),
      ...(rules.since?.(loop, lease, at) ?? []),
    ],
    held(by) {
      throw new RalphError(
        'loop-held',
        `Loop ${id} is already running in ${by}. Watch it with \`ralph show ${id} --follow\`.`,
      )
    },
    work: (held) => work(context, held, watching),
    after: async (held) => rules.after?.({ ...context, store }, held),
  })
  await driven.finally(() => here?.release())
  return store.load(id)
}

async function work(context: Context, held: Visit, watching: Watching): Promise<Loop> {
  const { home, env, root } = context
  const store = context.store()
  const { loop } = held
  // Its last driver died before it saw to the end: its files are elsewhere, and not needed any more.
  if (watching.arrive && ended(loop)) return loop
  // Nobody has begun it: it can only be told something.
  if (watching.arrive && isUnbegun(loop)) return held.drive({})
  letGo(home, loop.id) // a session that had it does not go on with it
  const { stop, rest, show } = watching
  const task = ownerOf(loop).turn?.(loop)
  const more = given({ task, rest })
  const bench = await openBench(held, { home, store, env, stop, self: selfIn(root), show, ...more })
  watching.begin(loop, { suggestion: findChecks(loop.spec.work.dir)[0], checkpoints: bench.tree.checkpoints })
  for (const check of allChecks(loop.spec).filter((text) => !canStart(text, loop.spec.work.dir, env.PATH)))
    watching.say(
      `The program for check "${check}" is not installed. Unless it is by then, the loop will halt (verifier-broken).`,
    )
  return held.drive(handsOf(bench, watching, held.lease))
}

/** It was paused while it was queued. */
export function isUnbegun({ tally, next }: Loop): boolean {
  return next.kind === 'wait' && tally.held?.kind === 'wait' && tally.held.why === 'queued'
}

/** Something may have happened to the loop meanwhile that comes instead of its next turn. */
function handsOf(bench: Workbench, { saw, leavesWaits = false, carry }: Watching, lease: Lease): Hands {
  const hands = runHands(bench, saw)
  const carried = async (loop: Loop, fact: Fact | undefined) => (fact && carry ? carry(loop, fact, lease) : fact)
  const turn: Required<Hands>['turn'] = async (loop, next) => carried(loop, await hands.turn(loop, next))
  const isOver = (until: number | undefined) => until !== undefined && bench.now() >= until
  return {
    ...hands,
    check: async (loop, next) => {
      const checked = await hands.check(loop, next)
      return next.because === 'start' ? carried(loop, checked) : checked
    },
    wait: async (loop, next) => (leavesWaits && !isOver(next.until) ? undefined : hands.wait(loop, next)),
    turn: async (loop, next) => ownerOf(loop).instead?.(loop, bench.now()) ?? turn(loop, next),
  }
}
