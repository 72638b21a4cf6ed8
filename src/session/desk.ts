/** What every part of a session works with, and the loop that it holds meanwhile. */
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
  /** When this call began. */
  began: number
  /** Opened when first asked for. */
  store(): LoopStore
  /** What is said of a loop that does not simply go on; it is only loaded when it is needed. */
  words(): Pick<typeof Standing, 'standing' | 'checkWords' | 'capNote' | 'findingNotes'>
  /** The hands that run checks and experiments; they are only loaded when they are needed. */
  checker(checking: Omit<Checking, 'store' | 'home'>): CheckHands
  /** What the owner of the loop makes of its turns. Absent: the agent's words claim. */
  judge?: Judge
  /** Ends the checks at once. */
  stop: AbortSignal
  show: Show
}

/** The loop of a session, held alone. */
export type Holding = { session: string; armed: Armed; visit: Visit }

/** Undefined for a loop of a home that was cleared. */
export async function loadKnown({ store }: Pick<Desk, 'store'>, id: string): Promise<Loop | undefined> {
  return store()
    .load(id)
    .catch(() => undefined)
}
