/** Hands that spawn the agent, run the checks, wait, and restore files: for every loop whose turns ralph takes. */
import { setFlagsFromString } from 'node:v8'
import type { AgentEvent } from '../agents/agent.ts'
import type { Fact, Loop, Run, Verdict } from '../engine/loop.ts'
import { isRalphError } from '../error.ts'
import { rollBack } from '../host/roll-back.ts'
import type { Fence } from '../host/sandbox.ts'
import type { Store } from '../host/store.ts'
import type { Tree } from '../host/tree.ts'
import { checkHands, untilCancelled } from './check-hands.ts'
import type { Hands, RestoreNext, TurnNext, WaitNext } from './drive.ts'
import { AROUND_MS } from './promised.ts'
import { takeTurn } from './take-turn.ts'
import type { Judge } from './turn-ended.ts'

/**
 * What these hands work with. `stop` ends the agent at once; after `rest` no turn starts and no limit is waited for.
 */
export type Workbench = {
  home: string
  store: Store
  tree: Tree
  env: Readonly<Record<string, string | undefined>>
  now: () => number
  stop: AbortSignal
  rest?: AbortSignal
  /** Fires when another driver has taken over the loop: what is running is no longer wanted. */
  lost?: AbortSignal
  /** Promises to move the loop, or to renew the promise, within this time: see `Lease`. */
  expect?: ((ms: number) => void) | undefined
  /** The command line of one of ralph's own programs. */
  self: (program: string) => string[]
  show: Show
  /** Checks run inside it. Absent: they run like the user's own commands. */
  fence?: Fence | undefined
  /**
   * Verdicts by the state of the files, if several loops work on the same ones: known results are reused for the
   * baseline.
   */
  known?: Map<string, Verdict[]>
  /** What its owner adds to a turn. */
  task?: TaskTurn
}

export type TaskTurn = {
  /** Absent: the standard prompt of a turn. */
  prompt?(loop: Loop, next: TurnNext): string
  /** Overrides the standard environment of a turn. Read for each turn. */
  env: Readonly<Record<string, string>>
  /** How the owner judges a turn in which the agent finished. */
  judge?: Judge
  /**
   * Resolves when the agent signals through a file that it is finished, though it may still be running; at the latest
   * when the signal fires.
   */
  finished?(signal: AbortSignal): Promise<void>
}

/** What happens between two facts, for observers. */
export type Show = (
  event:
    | { kind: 'turn-start' }
    | { kind: 'check-start' }
    | { kind: 'prove-start'; run: Run }
    | { kind: 'agent'; event: AgentEvent }
    /** Something the user should know, once. */
    | { kind: 'note'; text: string },
  loop: Loop,
) => void

export function runHands(bench: Workbench, saw: (loop: Loop, fact: Fact) => void): Required<Hands> {
  // Agent output becomes garbage at once. V8 would let its young generation grow to 130 MB for a flood of it.
  setFlagsFromString('--semi-space-growth-factor=1')
  const { stop, rest } = bench
  const patience = rest ? AbortSignal.any([stop, rest]) : stop
  return {
    turn: async (loop, next) =>
      rest?.aborted ? undefined : untilCancelled(bench, loop, (signal) => takeTurn(bench, loop, next, signal)),
    ...checkHands(bench),
    wait: (loop, next) => waitUntil({ ...bench, stop: patience }, loop, next),
    restore: (_, next) => putBack(async () => bench.tree.checkpoints, next, bench.now),
    saw,
  }
}

/** Restores the files to a checkpoint. Reports what cannot be restored; the loop ends anyway. */
export async function putBack(
  open: () => Promise<Tree['checkpoints']>,
  { to }: RestoreNext,
  now: () => number,
): Promise<Fact> {
  try {
    const checkpoints = await open()
    if ('none' in checkpoints) return { kind: 'restored', at: now(), trouble: `${checkpoints.none}.` }
    await rollBack(checkpoints.restoring, to)
    return { kind: 'restored', at: now() }
  } catch (cause) {
    if (isRalphError(cause)) return { kind: 'restored', at: now(), trouble: cause.message }
    throw cause
  }
}

/** Only time ends these waits; nothing waits for a person here. An order takes effect at once. */
async function waitUntil(
  { store, now, stop, expect }: Workbench,
  loop: Loop,
  { until }: WaitNext,
): Promise<Fact | undefined> {
  if (until === undefined) return undefined
  let listener = () => {}
  const wakeUp = () => listener()
  const unwatch = store.onChange(wakeUp)
  stop.addEventListener('abort', wakeUp)
  try {
    while (now() < until && !stop.aborted) {
      expect?.(AROUND_MS)
      const order = await store.nextOrder(loop.id)
      if (order) return order
      await new Promise<void>((wake) => {
        // Short naps: the wall clock may be set, and a laptop may sleep.
        const nap = setTimeout(wake, Math.min(until - now(), 60_000))
        listener = () => {
          clearTimeout(nap)
          wake()
        }
      })
    }
  } finally {
    unwatch()
    stop.removeEventListener('abort', wakeUp)
  }
  return stop.aborted ? undefined : { kind: 'woke', at: now() }
}
