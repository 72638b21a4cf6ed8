/** A snapshot of the fleet for the scheduler, and the scheduler's answer. */
import type { Needs } from './needs.ts'

/** A task that has not started. Only the fields that the scheduler needs. */
export type Waiting = {
  id: string
  submitter: string
  repo: string
  /** The branch that its work is merged into. */
  base: string
  /** The branch that its work is done on. */
  branch: string
  /** Highest first, among the tasks of one submitter. */
  priority: number
  needs: Needs
  /** Globs of the files it will change. Empty: none declared, so it runs alongside any other task. */
  touches: readonly string[]
  /** Its unfinished dependencies. */
  dependsOn: readonly string[]
  createdAt: number
  /** Not before this time. */
  dueAt?: number
  /** What it may cost, set aside before it starts. */
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
  /** The worker that runs it. Absent or not in the list: it will need a slot again. */
  worker?: string
}

/** A worker that is alive. */
export type LiveWorker = {
  id: string
  agents: readonly string[]
  labels: readonly string[]
  /** The account that each of its agents uses. An agent without one is never paused. */
  accounts: Readonly<Record<string, string>>
  /** How many tasks it runs at once. */
  concurrency: number
  /** It finishes its tasks and takes no new ones. */
  draining: boolean
}

export type Picture = {
  now: number
  waiting: readonly Waiting[]
  busy: readonly Busy[]
  workers: readonly LiveWorker[]
  /** Until when each account is paused for the whole fleet. */
  pausedUntil: ReadonlyMap<string, number>
  /** What a submitter may still set aside today. Undefined: no limit. */
  leftUsd: (submitter: string) => number | undefined
  /** When a task of this submitter was last released: among equals, the one that has waited longest goes first. */
  releasedAt: (submitter: string) => number | undefined
  /**
   * How many tasks may be queued beyond the free slots: about as many as finish before the next pass. Absent: one for
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

/** What is missing when no worker can run a task. `combination`: every part exists, but not on a single worker. */
export type Lack =
  | { kind: 'workers' | 'draining' | 'combination' }
  | { kind: 'agents'; agents: readonly string[] }
  | { kind: 'labels'; labels: readonly string[] }

export type Schedule = {
  /** Ids, in the order they were chosen. */
  release: string[]
  /** All other waiting tasks. */
  held: Map<string, Held>
}
