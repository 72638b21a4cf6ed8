/** How a loop differs depending on its owner. Owners supply these rules; the table of all of them is one layer up. */
import type { Fact, Loop } from '../engine/loop.ts'
import type { RalphError } from '../error.ts'
import type { Lease, Store } from '../host/store.ts'
import type { TaskTurn } from './hands.ts'
import type { Visit } from './visit.ts'

export type OwnerRules = {
  /** Whether ralph takes its turns. If somebody else does, no ralph can have lost one. */
  takesTurns?(loop: Loop): boolean
  /** Why a person cannot do this with it from outside, and what to do instead; undefined: they can. */
  refuses?(loop: Loop, wish: Wish): RalphError | undefined
  /** How messages reach it, if only when its owner continues. */
  receivesLater?(loop: Loop): string | undefined
  /** How to start it again once it has ended. */
  again(loop: Loop): string
  /** How its owner treats the time in which no process ran it. */
  since?(loop: Loop, lease: Lease, now: number): Fact[]
  /** What it adds to each of its turns. */
  turn?(loop: Loop): TaskTurn
  /** What replaces the next turn if something has happened to it in the meantime. */
  instead?(loop: Loop, at: number): Fact | undefined
  /** Updates its owner's files after any move. */
  after?(desk: OwnerDesk, visit: Visit): Promise<unknown>
  /** Runs once a person has accepted its work. Must be idempotent. */
  accepted?(desk: OwnerDesk, loop: Loop): Promise<unknown>
  /** The commands to suggest for it. */
  hints?(loop: Loop): Hints
}

/** What a person may want to do with a loop that is not theirs alone. `driven`: a process is running it. */
export type Wish =
  | { kind: 'resume'; driven: boolean }
  /** It halted on a limit and continues with a new one. */
  | { kind: 'extend' }
  | { kind: 'answer'; words: string }
  | { kind: 'rollback' }
  | { kind: 'undo' }
  | { kind: 'accept' }
  | { kind: 'fork' }
  | { kind: 'retry' }
  /** Run its checks again on the same files, outside of it. */
  | { kind: 'prove' }

export type Hints = {
  /** How to answer its question. */
  answer?: string
  /** How to give it a check. */
  check?: string
  /** One line that says whose it is. */
  whose?: string
  /** Who takes its turns, if not one of ralph's agents. */
  worker?: string
  /** A person does not accept its work. */
  merges?: true
}

export type OwnerDesk = {
  store: Store
  home: string
  env: Readonly<Record<string, string | undefined>>
  now: () => number
  note: (text: string) => void
}
