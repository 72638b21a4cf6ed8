/** A task of the fleet: what was submitted, and its state. Field names are those that programs see. */

/**
 * `waiting`: other tasks come first. `ready`: it may start. `released`: the next suitable worker takes it. `resting`: its loop
 * waits for a person, or until a time. `merging`: its work is proven and waits to be merged into the base.
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

/** Nothing more happens to it on its own. */
export const FLEET_OVER: readonly FleetState[] = ['done', 'failed', 'cancelled']

export type FleetTask = {
  id: string
  title: string
  /** Whose share of the fleet and whose budget it uses. */
  submitter: string
  /** The URL of its repository. Null: it works in an empty folder. */
  repo: string | null
  /** The branch it starts from. */
  base: string | null
  /** The branch its work is pushed to. */
  branch: string
  /** Tasks submitted together; each is merged into the base in turn. */
  project: string | null
  /** Among the tasks of one submitter, the highest starts first. */
  priority: number
  /** Any of these agents may work on it. `auto`: any agent that a worker has. */
  agents: string[]
  /** A worker must have all of these. */
  labels: string[]
  /** Globs of the files it is meant to change. Tasks with overlapping globs do not run at the same time. */
  touches: string[]
  /** Tasks that must be done before this one begins. */
  depends_on: string[]
  state: FleetState
  /** Why it is in this state, if that is not obvious. */
  sentence: string | null
  /** The newest loop that works on it. */
  loop_id: string
  /** The worker that has it, or had it last. */
  worker: string | null
  /** How many times a worker has taken it. */
  attempts: number
  /** Its work is being merged, or about to be. */
  merge_job: boolean
  /** How many times its work could not be merged. */
  sent_back: number
  /** The commit of the last pushed iteration. */
  pushed: string | null
  /** Its cost limit, if one was given. */
  limit_usd: number | null
  /** What was set aside for it, and what all its loops cost so far. */
  reserved_usd: number
  spent_usd: number
  /** When it may continue, in milliseconds. */
  due_at: number | null
  created_at: number
  updated_at: number
}

/** A worker that has been silent for this long counts as dead. */
export const WORKER_GONE_MS = 30_000

/** A machine that takes tasks. Times are in milliseconds, by the database clock. */
export type FleetWorker = {
  id: string
  host: string
  pid: number
  version: string
  /** The agents it runs, each with the account it uses. */
  agents: Record<string, string>
  labels: string[]
  concurrency: number
  running: number
  draining: boolean
  started_at: number
  /** When it last reported. */
  beat_at: number
  /** When one of its tasks last made progress. */
  progress_at: number
}

/** An account of an agent that must not be used for a while. */
export type FleetAccount = { name: string; paused_until: number; why: string }
