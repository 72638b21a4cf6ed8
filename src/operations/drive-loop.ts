/** Drives a loop in this process until it stops, for any owner and any front. */
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
import { releaseLoop } from '../session/elsewhere.ts'
import { beginQueued } from './begin-queued.ts'
import { type Context, selfIn } from './operation.ts'
import { ownerOf } from './owners.ts'

/** Callbacks, and signals to stop. */
export type Watching = {
  /** Stops the agent at once. */
  stop: AbortSignal
  begin(loop: Loop, place: { suggestion: string | undefined; checkpoints: Tree['checkpoints'] }): void
  show: Show
  say(text: string): void
  saw(loop: Loop, fact: Fact): void
  /** Does not wait out a rate limit here: whoever comes back after it continues. */
  leavesWaits?: boolean
  /** Once aborted, no new turn starts. */
  rest?: AbortSignal
  /** Brings the loop to this machine if it was requested elsewhere. Absent: its files are here. */
  arrive?(loop: Loop, lease: Lease, at: number): Promise<Fact[]>
  /** Runs before a turn, or the checks before any work, are saved. */
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
      // A lease in Postgres does not stop cleanups in this home; `arrive` has already taken the hold that does.
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
  // Its last driver died before the cleanup: its files are elsewhere and no longer needed.
  if (watching.arrive && ended(loop)) return loop
  // It has not started: it can only receive messages.
  if (watching.arrive && isUnstarted(loop)) return held.drive({})
  releaseLoop(home, loop.id) // the session that had it does not continue it
  const { stop, rest, show } = watching
  const task = ownerOf(loop).turn?.(loop)
  const more = given({ task, rest })
  const bench = await openBench(held, { home, store, env, stop, self: selfIn(root), show, ...more })
  watching.begin(loop, { suggestion: findChecks(loop.spec.work.dir)[0], checkpoints: bench.tree.checkpoints })
  for (const check of allChecks(loop.spec).filter((text) => !canStart(text, loop.spec.work.dir, env.PATH)))
    watching.say(
      `The program for check "${check}" is not installed yet. Without it, the loop will halt (verifier-broken).`,
    )
  return held.drive(handsOf(bench, watching, held.lease))
}

/** It was paused while queued. */
export function isUnstarted({ tally, next }: Loop): boolean {
  return next.kind === 'wait' && tally.held?.kind === 'wait' && tally.held.why === 'queued'
}

/** Something may have happened to the loop meanwhile that replaces its next turn. */
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
