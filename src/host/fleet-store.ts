/**
 * What a store that several machines share can do in addition: the tasks of the fleet, its queue, its workers, and what
 * they may spend.
 */
import type { Loop } from '../engine/loop.ts'
import type { FleetAccount, FleetState, FleetTask, FleetWorker } from '../formats/fleet-task.ts'
import type { Store, Telling } from './store.ts'

/** A store with a fleet. */
export type FleetStore = Store & { fleet: FleetRecords }

export type FleetRecords = {
  /** The clock of the database, in milliseconds: the only clock that counts. */
  now(): Promise<number>
  /** All of them with their loops, or none. */
  submit(tasks: readonly Submission[]): Promise<void>
  load(id: string): Promise<FleetTask | undefined>
  /** The request as it was submitted. */
  asked(id: string): Promise<unknown>
  /** Newest first. */
  list(filter?: FleetFilter): Promise<FleetPage>
  counts(): Promise<Partial<Record<FleetState, number>>>
  /**
   * Sets the named fields, and leaves the rest. Undefined: it no longer exists, or is not as `only` says. Tasks that
   * wait for a task that is now done continue.
   */
  change(id: string, patch: FleetPatch, only?: Only): Promise<FleetTask | undefined>
  /** Another loop works on it from now on. `first`: what that loop receives first. False: as for `change`. */
  again(id: string, again: Restart): Promise<boolean>
  /** Removes tasks that ended before then, with their loops. Returns how many. */
  prune(before: number): Promise<number>

  /** The health of the database. */
  health(): Promise<FleetHealth>
  /** One pass of the scheduler, in one transaction. Undefined: another process is doing it. */
  pass(holder: string, decide: (view: FleetView) => Release[]): Promise<number | undefined>
  /** What a pass would see now. */
  view(): Promise<FleetView>
  queue: FleetQueue
  workers: FleetWorkers
  accounts: {
    list(): Promise<FleetAccount[]>
    /** An earlier time does not shorten a later one. */
    pause(account: FleetAccount): Promise<void>
  }
  budgets: {
    list(): Promise<FleetBudget[]>
    /** Null removes it. */
    set(submitter: string, usdPerDay: number | null): Promise<void>
    /** What a submitter may still spend today, minus what is set aside. Undefined: no limit. */
    left(submitter: string): Promise<number | undefined>
  }
  /** Settings of the whole fleet. */
  settings: { load(): Promise<FleetSettings>; save(patch: Partial<FleetSettings>): Promise<FleetSettings> }
  /** Values of secrets by their marks, for workers only. */
  secrets: {
    keep(values: ReadonlyMap<string, string>): Promise<void>
    load(ids: readonly string[]): Promise<Map<string, string>>
  }
}

/**
 * `heartbeat_seconds`: a worker that is silent for this long counts as dead. `keep_days`: how long finished tasks are
 * kept. `most_deaths`: a task fails after this many workers in a row died while running it.
 */
export type FleetSettings = { heartbeat_seconds: number; keep_days: number; most_deaths: number }

/**
 * `local`: it is on this machine. `clock_ms`: how far its clock is ahead of ours. `scheduler.left_ms`: what is left of
 * its term; negative: the time since it ended. `bloated`: tables with more dead rows than live ones.
 */
export type FleetHealth = {
  version: string
  version_number: number
  user: string
  tls: boolean
  local: boolean
  connections: { used: number; most: number }
  size_mb: number
  tables: { major: number; steps: number; known: number }
  clock_ms: number
  rights: { read: boolean; submit: boolean; work: boolean }
  queue: boolean
  scheduler: { holder: string; left_ms: number } | null
  oldest_ready_ms: number | null
  bloated: string[]
}

export type Submission = { task: FleetTask; loop: Loop; asked: unknown }

export type Restart = { loop: Loop; first?: readonly Telling[]; patch: FleetPatch; only: Only }

export type FleetPatch = Partial<
  Pick<
    FleetTask,
    | 'state'
    | 'agents'
    | 'merge_job'
    | 'sentence'
    | 'worker'
    | 'attempts'
    | 'sent_back'
    | 'pushed'
    | 'due_at'
    | 'priority'
  >
>

/** Which states it must be in, and who must have it: a late worker can no longer change anything. */
export type Only = { from?: readonly FleetState[]; worker?: string }

/** Absent: all. `text`: a part of the title. `after`: the `next` of an earlier page. */
export type FleetFilter = {
  ids?: readonly string[]
  state?: readonly FleetState[]
  submitter?: string
  project?: string
  text?: string
  limit?: number
  after?: string
}

export type FleetPage = { tasks: FleetTask[]; next?: string }

/** `submitter`: `*` stands for each one without its own budget. */
export type FleetBudget = { submitter: string; usd_per_day: number; spent_usd: number; reserved_usd: number }

/**
 * What the scheduler bases its decisions on. `ready`: the first tasks of each submitter. `now`: by the clock of the
 * database.
 */
export type FleetView = {
  now: number
  ready: FleetTask[]
  busy: FleetTask[]
  /** For each base, the next task to be merged into it. */
  merges: FleetTask[]
  workers: FleetWorker[]
  accounts: FleetAccount[]
  /** What each of them may still spend today. A submitter that is missing here has no limit. */
  left: ReadonlyMap<string, number>
  /** When a task of each submitter was last released. */
  releasedAt: ReadonlyMap<string, number>
}

/**
 * `queue`: the name for its needs, which are passed along. `reserveUsd`: what is set aside for it. `merge`: its work is
 * to be merged.
 */
export type Release = { task: string; queue: QueueNeeds; reserveUsd: number; merge?: true }

/** `agents`: any of them; none: whichever. `labels`: all of them. */
export type QueueNeeds = { name: string; agents: readonly string[]; labels: readonly string[] }

/** `tries`: how many workers have died while running it. `merge`: its work is to be merged. */
export type FleetJob = { id: string; queue: string; task: string; tries: number; merge?: true }

export type FleetQueue = {
  /** All queues. */
  queues(): Promise<QueueNeeds[]>
  /** The next ones of a queue, reserved for this process. */
  fetch(queue: string, most: number): Promise<FleetJob[]>
  /** Its worker is alive. False: it has been given to another. */
  touch(job: FleetJob): Promise<boolean>
  /** It is finished. False: it has been given to another. */
  settle(job: FleetJob): Promise<boolean>
  /** Gives the jobs of dead workers to others, and removes those that ended long ago. */
  supervise(): Promise<void>
}

export type FleetWorkers = {
  /** Reports that a worker is alive. `isProgress`: one of its tasks made progress. */
  announce(worker: Omit<FleetWorker, 'started_at' | 'beat_at' | 'progress_at'>, isProgress: boolean): Promise<Announced>
  leave(id: string): Promise<void>
  /** The workers that reported lately. `all`: including dead ones. */
  list(all?: boolean): Promise<FleetWorker[]>
  /** Asks it to take no more tasks and to leave. False: no such worker. */
  drain(id: string): Promise<boolean>
}

/** `now`: the clock of the database. `drain`: somebody asked it to leave. `workers`: how many there are. */
export type Announced = { now: number; drain: boolean; workers: number }
