/** What every part of a session works with, and the loop it holds while doing so. */
import type { CheckHands, Checking } from '../drive/check-hands.ts'
import type { Show } from '../drive/hands.ts'
import type { Judge } from '../drive/turn-ended.ts'
import type { Visit } from '../drive/visit.ts'
import type { Loop } from '../engine/loop.ts'
import type { LoopStore } from '../host/store.ts'
import type { Armed } from './armed.ts'
import type { Env } from './hosts.ts'
import type * as Standing from './standing.ts'

export type Desk = {
  home: string
  env: Env
  now: () => number
  /** When this call started. */
  began: number
  /** Opened on first use. */
  store(): LoopStore
  /** The sentences for a loop that does not simply continue; loaded only when needed. */
  words(): Pick<typeof Standing, 'standing' | 'checkWords' | 'capNote' | 'findingNotes'>
  /** The hands that run checks and experiments; loaded only when needed. */
  checker(checking: Omit<Checking, 'store' | 'home'>): CheckHands
  /** How the loop's owner judges its turns. Absent: the agent's words make the claim. */
  judge?: Judge
  /** Stops the checks at once. */
  stop: AbortSignal
  show: Show
}

/** The loop of a session, held exclusively. */
export type Holding = { session: string; armed: Armed; visit: Visit }

/** Undefined when the home was cleared and the loop with it. */
export async function loadKnown({ store }: Pick<Desk, 'store'>, id: string): Promise<Loop | undefined> {
  return store()
    .load(id)
    .catch(() => undefined)
}
