/** Moves the loop of a task: held exclusively for one call, with the checks it asks for. */
import { type CheckHands, checkHands } from '../drive/check-hands.ts'
import { leasePatiently } from '../drive/patience.ts'
import { type Visit, visit } from '../drive/visit.ts'
import type { Fact, Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import type { Lease, TaskRow } from '../host/store.ts'
import type { VaultDesk } from './desk.ts'
import { findVaultTask } from './vault-task.ts'

/** Moves the loop by one fact, then as far as checks take it. */
export type Move = (fact: Fact) => Promise<Loop>

const PATIENCE_MS = 10_000

/** Holds the loop of a task exclusively while `work` runs. Others wait their turn. */
export async function moveTask<Result>(
  desk: VaultDesk,
  { loop: id }: Pick<TaskRow, 'loop'>,
  work: (move: Move, loop: Loop, lease: Lease) => Promise<Result>,
): Promise<Result> {
  const { store, now } = desk
  return visit(id, {
    store,
    now,
    take: () => leasePatiently(store, id, PATIENCE_MS),
    held(by) {
      throw new RalphError(
        'loop-held',
        `The task is being worked on by ${by} (loop ${id}). Only one at a time can work on it.`,
      )
    },
    async work(held) {
      const hands = checksOf(desk)
      const loop = await held.drive(hands)
      return work(moverOf(held, hands), loop, held.lease)
    },
  })
}

/** Checks of a task that someone else works on: its changes are not tracked here. */
export function checksOf({ home, store, env, now }: VaultDesk): CheckHands {
  const tree = { look: async () => undefined, seen: true, checkpoints: { none: 'nobody looks' } } as const
  return checkHands({ home, store, tree, env, now, stop: new AbortController().signal, show: () => {} })
}

export function moverOf(held: Visit, hands: CheckHands): Move {
  return async (fact) => {
    // A clock that was set back must not make a task younger.
    await held.move({ ...fact, at: Math.max(fact.at, held.loop.tally.startedAt) })
    return held.drive(hands)
  }
}

/** The time since a watcher left a task does not count. It may have been running checks. */
export function restFacts({ next, spec }: Loop, { movedAt }: Pick<Lease, 'movedAt'>, now: number): Fact[] {
  const isLeft =
    findVaultTask(spec.work)?.by === 'watch' && (next.kind === 'turn' || next.kind === 'check' || next.kind === 'prove')
  if (!isLeft) return []
  return [{ kind: 'told', at: now, by: 'ralph', order: { kind: 'rested', since: Math.min(movedAt, now) } }]
}
