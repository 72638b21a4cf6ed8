/** One stretch of driving a loop: held alone, taken up where the last driver left it, driven, let go. */
import type { Fact, Loop } from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import type { Held, Lease, LoopStore } from '../host/store.ts'
import { drive, type Hands } from './drive.ts'

/** A loop that is held alone. */
export type Visit = {
  /** As it is now; every fact moves it. */
  readonly loop: Loop
  readonly lease: Lease
  /** Never before the last fact, also when somebody has set the clock back. */
  now(): number
  move(fact: Fact): Promise<Loop>
  /** `told`: which orders are heard now. Absent: all of them. */
  drive(hands: Hands, told?: VisitStore['told']): Promise<Loop>
}

export type Visiting<Result> = {
  store: VisitStore
  now: () => number
  /** How the lease is taken. Absent: it is asked for once. */
  take?(): Promise<Lease | Held>
  /** What comes of it where somebody alive holds the loop. */
  held(by: string): Result | Promise<Result>
  /** How what a dead driver left is put in order. Absent: a driver that is gone cannot have left anything. */
  takeUp?: TakeUp
  /** What has changed since the loop was last driven. */
  since?(loop: Loop, lease: Lease, now: number): Fact[] | Promise<Fact[]>
  work(visit: Visit): Promise<Result>
  /** Whether the loop stays held afterwards: the next visit is given the lease then. */
  keeps?(loop: Loop): boolean
  /** What follows, while the loop is still held. Must not mind being done twice: who is killed before comes back to it. */
  after?(visit: Visit): Promise<unknown>
}

export type VisitStore = Pick<LoopStore, 'lease' | 'load' | 'save' | 'sealed' | 'told'>

export type TakeUp = {
  /** Ends the processes of a driver that is gone. */
  reap(id: string): Promise<unknown>
  /** The turn that it was at, as far as that can be told. */
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
    const lost = await takeUp?.loss(held.loop, held.now) // read as it was asked for then
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
  // Set back since then, the clock would stand still for as long, and with it every limit.
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
    drive: (hands, told = store.told) =>
      drive(
        loop,
        lease,
        { told, save: store.save, sealed: store.sealed },
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
