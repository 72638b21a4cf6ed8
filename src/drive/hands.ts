/** Hands that spawn the agent, run the checks, wait, and put files back: for every loop whose turns ralph takes. */
import { setFlagsFromString } from 'node:v8'
import type { AgentEvent } from '../agents/agent.ts'
import type { Fact, Loop, Verdict } from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import { RalphError } from '../error.ts'
import { runCheck } from '../host/check.ts'
import { findFindings } from '../host/findings.ts'
import { rollBack } from '../host/restore.ts'
import type { Store } from '../host/store.ts'
import type { Tree } from '../host/tree.ts'
import type { CheckNext, Hands, RestoreNext, TurnNext, WaitNext } from './drive.ts'
import { takeTurn } from './take-turn.ts'
import type { Judge } from './turn-ended.ts'

/** What these hands work with. `stop` ends the agent at once; after `rest` no turn is begun and no limit is waited for. */
export type Workbench = {
  store: Store
  tree: Tree
  env: Readonly<Record<string, string | undefined>>
  now: () => number
  stop: AbortSignal
  rest?: AbortSignal
  /** Fires when another has taken the loop over: what is under way is not wanted any more. */
  lost?: AbortSignal
  /** The command line of one of ralph's own programs. */
  self: (program: string) => string[]
  show: Show
  /** What its owner brings to a turn. */
  task?: TaskTurn
}

export type TaskTurn = {
  /** Absent: the words that every loop's turn gets. */
  prompt?(loop: Loop, next: TurnNext): string
  env: Readonly<Record<string, string>>
  /** What the owner makes of a turn in which the agent got to its end. */
  judge?: Judge
  /** Resolves when the agent says by a file that it is finished, though it may not have ended yet; at the latest when the signal fires. */
  finished?(signal: AbortSignal): Promise<void>
}

/** What happens between two facts, for whoever watches. */
export type Show = (
  event:
    | { kind: 'turn-start' }
    | { kind: 'check-start' }
    | { kind: 'agent'; event: AgentEvent }
    /** Something a person should know, once. */
    | { kind: 'note'; text: string },
  loop: Loop,
) => void

export function runHands(bench: Workbench, saw: (loop: Loop, fact: Fact) => void): Required<Hands> {
  // What an agent prints is garbage at once. V8 would let its young generation grow to 130 MB for a flood of it.
  setFlagsFromString('--semi-space-growth-factor=1')
  const { stop, rest } = bench
  const patience = rest ? AbortSignal.any([stop, rest]) : stop
  return {
    turn: async (loop, next) =>
      rest?.aborted ? undefined : untilCancelled(bench, loop, (signal) => takeTurn(bench, loop, next, signal)),
    check: checkHand(bench),
    wait: (loop, next) => waitUntil({ ...bench, stop: patience }, loop, next),
    restore: (_, next) => putBack(async () => bench.tree.checkpoints, next, bench.now),
    saw,
  }
}

/** The hand that runs the checks. */
export function checkHand(bench: Checking): (loop: Loop, next: CheckNext) => Promise<Fact | undefined> {
  return (loop, next) => untilCancelled(bench, loop, (signal) => runChecks(bench, loop, next, signal))
}

export type Checking = Pick<Workbench, 'store' | 'tree' | 'env' | 'now' | 'stop' | 'lost' | 'show'>

/**
 * A cancel ends the agent or the check under way, and so does whoever takes the loop over; every other order waits until
 * it is over. Once ralph itself is to stop, nothing new is begun.
 */
async function untilCancelled(
  bench: Pick<Workbench, 'store' | 'stop' | 'lost'>,
  loop: Loop,
  work: (signal: AbortSignal) => Promise<Fact>,
): Promise<Fact | undefined> {
  if (bench.stop.aborted) return undefined
  const cancel = new AbortController()
  const look = async () => {
    const fact = await bench.store.told(loop.id)
    if (fact?.kind === 'told' && fact.order.kind === 'cancel') cancel.abort()
  }
  // A store that cannot be read now is noticed when the turn is saved.
  const unwatch = bench.store.onChange(() => void look().catch(() => {}))
  try {
    return await work(AbortSignal.any([cancel.signal, bench.stop, ...(bench.lost ? [bench.lost] : [])]))
  } finally {
    unwatch()
  }
}

async function runChecks(bench: Checking, loop: Loop, { checks }: CheckNext, signal: AbortSignal): Promise<Fact> {
  const { dir, checkMinutes } = loop.spec.work
  bench.show({ kind: 'check-start' }, loop)
  const verdicts: Verdict[] = []
  for (const check of checks) {
    const verdict = await runCheck(check, {
      dir,
      env: { ...bench.env, RALPH_LOOP_ID: loop.id },
      minutes: checkMinutes,
      signal,
    })
    if (!verdict) return { kind: 'lost', at: bench.now() }
    verdicts.push(verdict)
  }
  const tree = await bench.tree.look()
  const findings = await findFindings(dir, loop.tally.startTree, tree, allChecks(loop.spec))
  return { kind: 'checked', at: bench.now(), verdicts, findings, ...(tree === undefined ? {} : { tree }) }
}

/** Puts the files back to a checkpoint. What cannot be put back is told; the loop ends all the same. */
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
    if (cause instanceof RalphError) return { kind: 'restored', at: now(), trouble: cause.message }
    throw cause
  }
}

/** Only time can end these waits; for a person nobody waits here. An order is taken at once. */
async function waitUntil({ store, now, stop }: Workbench, loop: Loop, { until }: WaitNext): Promise<Fact | undefined> {
  if (until === undefined) return undefined
  let listener = () => {}
  const wakeUp = () => listener()
  const unwatch = store.onChange(wakeUp)
  stop.addEventListener('abort', wakeUp)
  try {
    while (now() < until && !stop.aborted) {
      const order = await store.told(loop.id)
      if (order) return order
      await new Promise<void>((wake) => {
        // Short naps: the clock of the wall may be set, and a laptop may sleep.
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
