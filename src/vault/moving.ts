/** Moving the loop of a task: held alone for one call, with the checks it asks for. */
import { setTimeout as sleep } from 'node:timers/promises'
import { drive } from '../drive/drive.ts'
import { checkHand } from '../drive/hands.ts'
import type { Fact, Loop } from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import { RalphError } from '../error.ts'
import type { Held, Lease, TaskRow } from '../host/store.ts'
import type { VaultDesk } from './desk.ts'

/** Moves the loop by one fact, and as far as checks take it then. */
export type Move = (fact: Fact) => Promise<Loop>

/** The loop of a task, held alone for as long as `work` takes. Others who want it wait their turn. */
export async function moveTask<Result>(
  desk: VaultDesk,
  { loop: id }: Pick<TaskRow, 'loop'>,
  work: (move: Move, loop: Loop, lease: Lease) => Promise<Result>,
): Promise<Result> {
  const { store, env, now } = desk
  const lease = await takeLease(desk, id)
  try {
    const tree = { look: async () => undefined, seen: true, checkpoints: { none: 'nobody looks' } } as const
    const check = checkHand({ store, tree, env, now, stop: new AbortController().signal, show: () => {} })
    let loop = await drive(await store.load(id), lease, store, { check })
    const move: Move = async (fact) => {
      // A clock that was set back must not make a task younger.
      const told = { ...fact, at: Math.max(fact.at, loop.tally.startedAt) }
      const next = step(loop, told)
      await store.save(lease, next, told)
      loop = await drive(next, lease, store, { check })
      return loop
    }
    return await work(move, loop, lease)
  } finally {
    await lease.release()
  }
}

const PATIENCE_MS = 10_000

async function takeLease({ store }: VaultDesk, id: string): Promise<Lease> {
  const until = performance.now() + PATIENCE_MS
  let held: Lease | Held = await store.lease(id, 0)
  while ('heldBy' in held && performance.now() < until) {
    await sleep(5 + Math.random() * 20)
    held = await store.lease(id, 0)
  }
  if ('heldBy' in held)
    throw new RalphError(
      'loop-held',
      `The task is being worked on by ${held.heldBy} (loop ${id}). Only one can at a time.`,
    )
  return held
}

/** As if a person had paused it when it last moved: for a task that a watcher has left. What it is at may be checks. */
export function restFacts({ next, spec }: Loop, movedAt: number, now: number): Fact[] {
  const isLeft = spec.work.vault?.by === 'watch' && (next.kind === 'turn' || next.kind === 'check')
  if (!isLeft) return []
  const told = { kind: 'told', by: 'ralph' } as const
  return [
    { ...told, at: Math.min(movedAt, now), order: { kind: 'pause' } },
    { ...told, at: now, order: { kind: 'resume' } },
  ]
}
