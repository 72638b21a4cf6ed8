/** The fleet at one moment, as the scheduler sees it, and what the scheduler answers. */
import type { Needs } from './needs.ts'

/** A task that nobody works on yet. Its other fields, such as its prompt, are no business of the scheduler. */
export type Waiting = {
  id: string
  submitter: string
  repo: string
  /** The branch that its work will be merged into. */
  base: string
  /** The branch that its work is done on. */
  branch: string
  /** The highest goes first, among the tasks of one submitter. */
  priority: number
  needs: Needs
  /** Globs of the files it will change. None: it has declared nothing, and runs beside any other. */
  touches: readonly string[]
  /** The tasks it waits for that are not finished. */
  dependsOn: readonly string[]
  createdAt: number
  /** Not before this time. */
  dueAt?: number
  /** What it may cost; it is set aside before a start. */
  reserveUsd: number
}

/**
 * A task that holds its branch and the files it touches. While it is `released` it waits for a slot, while it is `running`
 * it has one; `resting` (its loop waits for a person or a time) and `merging` take none.
 */
export type Busy = {
  id: string
  submitter: string
  repo: string
  base: string
  branch: string
  needs: Needs
  touches: readonly string[]
  state: 'released' | 'running' | 'resting' | 'merging'
  /** Who runs it. Absent, or nobody in the list: it will need a slot again. */
  worker?: string
}

/** A worker that is alive. */
export type LiveWorker = {
  id: string
  agents: readonly string[]
  labels: readonly string[]
  /** Which account each of its agents uses. An agent without one is never paused. */
  accounts: Readonly<Record<string, string>>
  /** How many tasks it runs at once. */
  concurrency: number
  /** It finishes what it has and takes nothing new. */
  draining: boolean
}

export type Picture = {
  now: number
  waiting: readonly Waiting[]
  busy: readonly Busy[]
  workers: readonly LiveWorker[]
  /** Until when each account is paused for the whole fleet. */
  pausedUntil: ReadonlyMap<string, number>
  /** What a submitter may still set aside today. Undefined: there is no limit. */
  leftUsd: (submitter: string) => number | undefined
  /** When a task of this submitter was last released: between equals the one that has waited longest goes first. */
  releasedAt: (submitter: string) => number | undefined
  /**
   * How many tasks may wait in the queue beyond the free slots: about as many as finish until the next pass. Absent: one for
   * every eight slots.
   */
  readAhead?: number
}

/** Why a task is not released now. */
export type Held =
  | { kind: 'dependencies'; on: readonly string[] }
  | { kind: 'not-due'; until: number }
  | { kind: 'no-worker'; lack: Lack }
  | { kind: 'account-paused'; accounts: readonly string[]; until: number }
  | { kind: 'branch-taken'; by: string }
  | { kind: 'files-taken'; by: string; glob: string; theirs: string }
  | { kind: 'over-budget'; reserveUsd: number; leftUsd: number }
  | { kind: 'no-slot'; slots: number }

/** What is missing where no worker can run a task. `combination`: each part of it is there, but on no single worker. */
export type Lack =
  | { kind: 'workers' | 'draining' | 'combination' }
  | { kind: 'agents'; agents: readonly string[] }
  | { kind: 'labels'; labels: readonly string[] }

export type Schedule = {
  /** Ids, in the order in which they were chosen. */
  release: string[]
  /** Every other task that waits. */
  held: Map<string, Held>
}
