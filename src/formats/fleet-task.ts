/** A task of the fleet: what was submitted, and where it is. Field names are those that programs see. */

/**
 * `waiting`: other tasks come first. `ready`: it may begin. `released`: the next worker that can takes it. `resting`: its loop
 * waits for a person, or until a time. `merging`: its work is proven, and waits for its turn to become part of the base.
 */
export const FLEET_STATES = [
  'waiting',
  'ready',
  'released',
  'running',
  'resting',
  'merging',
  'done',
  'failed',
  'cancelled',
] as const
export type FleetState = (typeof FLEET_STATES)[number]

/** Nothing more happens to it by itself. */
export const FLEET_OVER: readonly FleetState[] = ['done', 'failed', 'cancelled']

export type FleetTask = {
  id: string
  title: string
  /** Whose share of the fleet, and whose budget it uses. */
  submitter: string
  /** The address of its repository, as git knows it. Null: it works in an empty folder. */
  repo: string | null
  /** The branch that it begins at. */
  base: string | null
  /** The branch that its work is pushed to. */
  branch: string
  /** The tasks that were submitted together; each is merged into the base in turn. */
  project: string | null
  /** The highest begins first, among those of one submitter. */
  priority: number
  /** Any of these may work on it. `auto`: whatever a worker has. */
  agents: string[]
  /** A worker must have all of these. */
  labels: string[]
  /** Globs of the files that it is meant to change. Tasks whose globs overlap are not worked on at the same time. */
  touches: string[]
  /** Tasks that must be done before this one begins. */
  depends_on: string[]
  state: FleetState
  /** Why it is where it is, where that is not plain. */
  sentence: string | null
  /** The newest loop that works on it. */
  loop_id: string
  /** Who works on it, or did last. */
  worker: string | null
  /** How often a worker has taken it. */
  attempts: number
  /** Its work is being merged, or about to be. */
  merge_job: boolean
  /** How often its work could not be merged. */
  sent_back: number
  /** The commit of the last iteration that was pushed. */
  pushed: string | null
  /** What it may cost, where that was said. */
  limit_usd: number | null
  /** What was set aside for it, and what all its loops have cost. */
  reserved_usd: number
  spent_usd: number
  /** When it may go on, in milliseconds. */
  due_at: number | null
  created_at: number
  updated_at: number
}

/** A worker that has been silent for this long counts as dead. */
export const WORKER_GONE_MS = 30_000

/** A machine that takes tasks. Times are in milliseconds, by the clock of the database. */
export type FleetWorker = {
  id: string
  host: string
  pid: number
  version: string
  /** The agents that it runs, each with the account that it uses. */
  agents: Record<string, string>
  labels: string[]
  concurrency: number
  running: number
  draining: boolean
  started_at: number
  /** When it was last heard of. */
  beat_at: number
  /** When one of its tasks last got on. */
  progress_at: number
}

/** An account of an agent that must not be used for a while. */
export type FleetAccount = { name: string; paused_until: number; why: string }
