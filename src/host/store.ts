/** What every store of loops can do. SQLite implements it here; whatever else does must pass the same contract suite. */
import type { Diff, Fact, Loop, Next, Order, Status, Turn, Verdict } from '../engine/loop.ts'

export type Store = {
  create(loop: Loop): Promise<void>
  load(id: string): Promise<Loop>
  /** The id that a whole id or a unique beginning of one stands for. */
  find(name: string): Promise<string>
  /** Newest first. */
  list(filter?: { dir?: string; limit?: number }): Promise<LoopRow[]>
  /** The right to move a loop. Each lease has a higher epoch than the one before; only the newest can save. `patienceMs`: how long the whole process may wait where somebody holds it. */
  lease(id: string, patienceMs?: number): Promise<Lease | Held>
  /** The loop, its event and its rows in one transaction; refused when the lease is not the newest. */
  save(lease: Lease, loop: Loop, fact: Fact): Promise<void>
  tell(id: string, by: string, order: Order): Promise<void>
  /** The oldest order nobody has saved yet; a cancel goes before all others. */
  told(id: string): Promise<Fact | undefined>
  /** Whether somebody alive drives this loop. */
  isDriven(id: string): Promise<boolean>
  events(after: number, loop?: string): Promise<StoredEvent[]>
  iterations(loop: string): Promise<IterationRow[]>
  totals(): Promise<Totals>
  /** Iterations of the loops that completed, newest first: what an adaptive limit learns from. */
  history(): Promise<number[]>
  /** Calls back when anything may have changed, also by another process. Returns how to stop. */
  onChange(listener: () => void): () => void
  close(): Promise<void>
}

/** `movedAt`: when the loop had last been moved. */
export type Lease = { loop: string; epoch: number; movedAt: number; release(): Promise<void> }

/** Somebody alive holds the lease. */
export type Held = { heldBy: string }

export type LoopRow = {
  id: string
  dir: string
  agent: string
  prompt: string
  status: Status
  next: Next
  iteration: number
  iterationLimit: number
  falseClaims: number
  tokens: number
  costUsd: number
  startedAt: number
  updatedAt: number
}

export type StoredEvent = { seq: number; loop: string; n: number; at: number; fact: Fact; next: Next }

export type IterationRow = {
  n: number
  attempts: number
  startedAt: number
  endedAt: number
  agent: string
  end: Turn['end']
  claim: Turn['claim']['kind']
  changed: boolean | undefined
  diff: Diff | undefined
  tokens: number
  costUsd: number | undefined
  words: string
  verdicts: Verdict[]
}

export type Totals = {
  loops: number
  byStatus: Record<string, number>
  byReason: Record<string, number>
  verified: number
  claimed: number
  falseClaims: number
  iterations: number
  meanIterationsToDone: number | undefined
  tokens: number
  costUsd: number
  byAgent: { agent: string; loops: number; completed: number; iterations: number; costUsd: number }[]
}
