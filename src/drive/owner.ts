/** What is different about a loop because of whose it is. Owners bring these rules; the table of all of them lies above. */
import type { Fact, Loop } from '../engine/loop.ts'
import type { RalphError } from '../error.ts'
import type { Lease, Store } from '../host/store.ts'
import type { TaskTurn } from './hands.ts'
import type { Visit } from './visit.ts'

export type OwnerRules = {
  /** Whether ralph takes its turns. Where somebody else does, no ralph can have lost one. */
  takesTurns?(loop: Loop): boolean
  /** Why a person cannot do this with it from outside, and what to do instead; undefined: they can. */
  refuses?(loop: Loop, wish: Wish): RalphError | undefined
  /** How words for it are heard, where that is only when its owner goes on. */
  hearsLater?(loop: Loop): string | undefined
  /** How it is begun again once it is over. */
  again(loop: Loop): string
  /** What its owner makes of the time in which nobody drove it. */
  since?(loop: Loop, lease: Lease, now: number): Fact[]
  /** What it brings to each of its turns. */
  turn?(loop: Loop): TaskTurn
  /** What comes instead of the next turn, where something has happened to it meanwhile. */
  instead?(loop: Loop, at: number): Fact | undefined
  /** What follows for its owner's files, whatever moved it. */
  after?(desk: OwnerDesk, visit: Visit): Promise<unknown>
  /** What follows once a person has accepted its work. Must not mind being done twice. */
  accepted?(desk: OwnerDesk, loop: Loop): Promise<unknown>
  /** What a person is told to type about it. */
  hints?(loop: Loop): Hints
}

/** What a person may want of a loop that is not theirs alone. `driven`: somebody drives it. */
export type Wish =
  | { kind: 'resume'; driven: boolean }
  /** It halted on a limit, and goes on with another. */
  | { kind: 'extend' }
  | { kind: 'answer'; words: string }
  | { kind: 'rollback' }
  | { kind: 'undo' }
  | { kind: 'accept' }
  | { kind: 'fork' }
  | { kind: 'retry' }
  /** To run its checks again on the same files, outside of it. */
  | { kind: 'prove' }

export type Hints = {
  /** How to answer its question. */
  answer?: string
  /** How to give it a check. */
  check?: string
  /** One line that says whose it is. */
  whose?: string
  /** Who takes its turns, where that is no agent of ralph's. */
  worker?: string
  /** Its work is not for a person to accept. */
  merges?: true
}

export type OwnerDesk = {
  store: Store
  home: string
  env: Readonly<Record<string, string | undefined>>
  now: () => number
  note: (text: string) => void
}
