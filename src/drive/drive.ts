/** Driving a loop: perform what the engine asks for, step, save. Every front drives this way. */
import { ended, type Fact, type Loop, type Next } from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import type { Lease, Store } from '../host/store.ts'

/** What a driver can do; it leaves out what it cannot: a host that shows the next prompt itself has no `turn`. */
export type Hands = {
  turn?(loop: Loop, next: TurnNext): Promise<Fact | undefined>
  check?(loop: Loop, next: CheckNext): Promise<Fact | undefined>
  wait?(loop: Loop, next: WaitNext): Promise<Fact | undefined>
  /** Runs an experiment. */
  prove?(loop: Loop, next: ProveNext): Promise<Fact | undefined>
  restore?(loop: Loop, next: RestoreNext): Promise<Fact | undefined>
  /** Cleans up what these hands created for the loop. */
  leave?(loop: Loop): Promise<void>
  /** Shows what was just saved. */
  saw?(loop: Loop, fact: Fact): void
}

export type TurnNext = Extract<Next, { kind: 'turn' }>
export type CheckNext = Extract<Next, { kind: 'check' }>
export type ProveNext = Extract<Next, { kind: 'prove' }>
export type WaitNext = Extract<Next, { kind: 'wait' }>
export type RestoreNext = Extract<Next, { kind: 'restore' }>

/** Performs what a loop asks for, until these hands cannot or the loop has ended. */
export async function drive(
  loop: Loop,
  lease: Lease,
  store: Pick<Store, 'nextOrder' | 'save' | 'sealed'>,
  hands: Hands,
): Promise<Loop> {
  try {
    while (!ended(loop)) {
      const brought = (await store.nextOrder(loop.id)) ?? (await perform(loop, hands))
      if (!brought) return loop
      const fact = store.sealed(brought)
      loop = step(loop, fact)
      await store.save(lease, loop, fact)
      hands.saw?.(loop, fact)
    }
    return loop
  } finally {
    await hands.leave?.(loop)
  }
}

async function perform(loop: Loop, hands: Hands): Promise<Fact | undefined> {
  switch (loop.next.kind) {
    case 'turn':
      return hands.turn?.(loop, loop.next)
    case 'check':
      return hands.check?.(loop, loop.next)
    case 'prove':
      return hands.prove?.(loop, loop.next)
    case 'wait':
      return hands.wait?.(loop, loop.next)
    case 'restore':
      return hands.restore?.(loop, loop.next)
    case 'complete':
    case 'halt':
      return undefined
  }
}
