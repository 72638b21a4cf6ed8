/** One stretch of driving a loop: take the lease, resume where the last driver stopped, drive, release. */
import type { Fact, Loop } from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import type { Held, Lease, LoopStore } from '../host/store.ts'
import { drive, type Hands } from './drive.ts'

/** A loop held exclusively. */
export type Visit = {
  /** As it is now; every fact moves it. */
  readonly loop: Loop
  readonly lease: Lease
  /** Never before the last fact, even if the clock was set back. */
  now(): number
  move(fact: Fact): Promise<Loop>
  /** `nextOrder`: which orders take effect now. Absent: all of them. */
  drive(hands: Hands, nextOrder?: VisitStore['nextOrder']): Promise<Loop>
}

export type Visiting<Result> = {
  store: VisitStore
  now: () => number
  /** How the lease is taken. Absent: one attempt. */
  take?(): Promise<Lease | Held>
  /** The result if a live process holds the loop. */
  held(by: string): Result | Promise<Result>
  /** How to clean up after a dead driver. Absent: it cannot have left anything. */
  takeUp?: TakeUp
  /** What has changed since the loop was last driven. */
  since?(loop: Loop, lease: Lease, now: number): Fact[] | Promise<Fact[]>
  work(visit: Visit): Promise<Result>
  /** Whether the loop stays held afterwards: the next visit then gets the lease. */
  keeps?(loop: Loop): boolean
  /** Runs while the loop is still held. Must be idempotent: it runs again after a kill. */
  after?(visit: Visit): Promise<unknown>
}

export type VisitStore = Pick<LoopStore, 'lease' | 'load' | 'save' | 'sealed' | 'nextOrder'>

export type TakeUp = {
  /** Stops the processes of a dead driver. */
  reap(id: string): Promise<unknown>
  /** The turn it was in, as far as known. */
  loss(loop: Loop, now: () => number): Promise<Fact | undefined>
}

/** Every front and every owner moves a loop this way. */
export async function visit<Result>(id: string, visiting: Visiting<Result>): Promise<Result> {
  const { store, take, takeUp, since, work, after, keeps } = visiting
  const lease = await (take?.() ?? store.lease(id))
  if ('heldBy' in lease) return visiting.held(lease.heldBy)
  let kept = false
  try {
    if (takeUp && lease.epoch > 1) await takeUp.reap(id)
    const held = openVisit(await store.load(id), lease, visiting)
    const lost = await takeUp?.loss(held.loop, held.now) // read as requested at that time
    for (const fact of (await since?.(held.loop, lease, held.now())) ?? []) await held.move(fact)
    if (lost) await held.move(lost)
    const result = await work(held)
    await after?.(held)
    kept = keeps?.(held.loop) ?? false
    return result
  } finally {
    if (!kept) await lease.release()
  }
}

function openVisit(loaded: Loop, lease: Lease, { store, now }: Pick<Visiting<unknown>, 'store' | 'now'>): Visit {
  let loop = loaded
  let last = lease.movedAt
  // If set back since then, the clock would stand still for that long, and every limit with it.
  const behind = Math.max(0, last - now())
  const saw = (moved: Loop, fact: Fact) => {
    loop = moved
    last = Math.max(last, fact.at)
  }
  return {
    get loop() {
      return loop
    },
    lease,
    now: () => Math.max(now() + behind, last),
    async move(moving) {
      const fact = store.sealed(moving)
      const next = step(loop, fact)
      await store.save(lease, next, fact)
      saw(next, fact)
      return next
    },
    drive: (hands, nextOrder = store.nextOrder) =>
      drive(
        loop,
        lease,
        { nextOrder, save: store.save, sealed: store.sealed },
        {
          ...hands,
          saw(moved, fact) {
            saw(moved, fact)
            hands.saw?.(moved, fact)
          },
        },
      ),
  }
}
