/** What a store that several machines share can do besides: the tasks of the fleet, its queue, its workers, and what they may spend. */
import type { Loop } from '../engine/loop.ts'
import type { FleetAccount, FleetState, FleetTask, FleetWorker } from '../formats/fleet-task.ts'
import type { Store, Telling } from './store.ts'

/** A store with a fleet. */
export type FleetStore = Store & { fleet: FleetRecords }

export type FleetRecords = {
  /** The clock of the database, in milliseconds: of all clocks the only one that counts. */
  now(): Promise<number>
  /** All of them with their loops, or none. */
  submit(tasks: readonly Submission[]): Promise<void>
  load(id: string): Promise<FleetTask | undefined>
  /** What was asked for, as it was submitted. */
  asked(id: string): Promise<unknown>
  /** Newest first. */
  list(filter?: FleetFilter): Promise<FleetPage>
  counts(): Promise<Partial<Record<FleetState, number>>>
  /** Sets what is named, and leaves the rest. Undefined: it is gone, or not as `only` says. What waits for a task that is done goes on. */
  change(id: string, patch: FleetPatch, only?: Only): Promise<FleetTask | undefined>
  /** Another loop works on it from now on. `told`: what that one is told first. False: as for `change`. */
  again(id: string, again: BegunAgain): Promise<boolean>
  /** Removes tasks that were over before then, with their loops. Says how many. */
  prune(before: number): Promise<number>

  /** How the database is doing. */
  health(): Promise<FleetHealth>
  /** One pass of the scheduler, in one transaction. Undefined: another process does it just now. */
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
    /** Null takes it away. */
    set(submitter: string, usdPerDay: number | null): Promise<void>
    /** What a submitter may still spend today, without what is set aside. Undefined: there is no limit. */
    left(submitter: string): Promise<number | undefined>
  }
  /** What holds for the whole fleet. */
  settings: { load(): Promise<FleetSettings>; save(patch: Partial<FleetSettings>): Promise<FleetSettings> }
  /** Values of secrets by their marks, for workers alone. */
  secrets: {
    keep(values: ReadonlyMap<string, string>): Promise<void>
    load(ids: readonly string[]): Promise<Map<string, string>>
  }
}

/** `heartbeat_seconds`: a worker that is silent for this long counts as dead. `keep_days`: how long tasks are kept once they are over. `most_deaths`: a task fails after this many workers in a row died over it. */
export type FleetSettings = { heartbeat_seconds: number; keep_days: number; most_deaths: number }

/** `local`: it is on this machine. `clock_ms`: how far its clock is ahead of ours. `scheduler.left_ms`: of its term; negative: since that is over. `bloated`: tables with more dead rows than live ones. */
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

export type BegunAgain = { loop: Loop; told?: readonly Telling[]; patch: FleetPatch; only: Only }

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

/** In which states it must be, and who must have it: a late worker changes nothing any more. */
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

/** `submitter`: `*` stands for each that has no budget of its own. */
export type FleetBudget = { submitter: string; usd_per_day: number; spent_usd: number; reserved_usd: number }

/** What the scheduler decides by. `ready`: of each submitter those that come first. `now`: by the clock of the database. */
export type FleetView = {
  now: number
  ready: FleetTask[]
  busy: FleetTask[]
  /** Of each base the next one that is to be merged into it. */
  merges: FleetTask[]
  workers: FleetWorker[]
  accounts: FleetAccount[]
  /** What each of them may still spend today. Who is not in it has no limit. */
  left: ReadonlyMap<string, number>
  /** When a task of each was last released. */
  releasedAt: ReadonlyMap<string, number>
}

/** `queue`: the name for its needs, which are told with it. `reserveUsd`: what is set aside for it. `merge`: its work is to be merged. */
export type Release = { task: string; queue: QueueNeeds; reserveUsd: number; merge?: true }

/** `agents`: any of them; none: whichever. `labels`: all of them. */
export type QueueNeeds = { name: string; agents: readonly string[]; labels: readonly string[] }

/** `tries`: how often a worker has died over it. `merge`: its work is to be merged. */
export type FleetJob = { id: string; queue: string; task: string; tries: number; merge?: true }

export type FleetQueue = {
  /** All that there are. */
  queues(): Promise<QueueNeeds[]>
  /** The next ones of a queue, for this process alone from now on. */
  fetch(queue: string, most: number): Promise<FleetJob[]>
  /** Its worker is alive. False: it has been given to another. */
  touch(job: FleetJob): Promise<boolean>
  /** It is over with. False: it has been given to another. */
  settle(job: FleetJob): Promise<boolean>
  /** Gives what dead workers had to others, and removes what is long over. */
  supervise(): Promise<void>
}

export type FleetWorkers = {
  /** Is here, or still here. `isProgress`: one of its tasks got on. */
  announce(worker: Omit<FleetWorker, 'started_at' | 'beat_at' | 'progress_at'>, isProgress: boolean): Promise<Announced>
  leave(id: string): Promise<void>
  /** Those that were heard of lately. `all`: also those that are gone. */
  list(all?: boolean): Promise<FleetWorker[]>
  /** Asks it to take no more tasks and to leave. False: nobody knows it. */
  drain(id: string): Promise<boolean>
}

/** `now`: the clock of the database. `drain`: somebody asked it to leave. `workers`: how many there are. */
export type Announced = { now: number; drain: boolean; workers: number }
