/** One execution of a project: what its tasks share, and why no new task starts. */
import type { Grade } from '../engine/loop.ts'
import { attemptsLeft, type Going, type ProjectStop } from '../engine/schedule.ts'
import { RalphError } from '../error.ts'
import { closeTask } from './merge.ts'
import { openKeeper, type ProjectRecord, planned } from './record.ts'
import type { Site } from './site.ts'
import { openPurse, type Purse, type SharedLimits, type Spending } from './spending.ts'

/** The request. */
export type Execution = Omit<Site, 'keeper' | 'rest' | 'limits' | 'mayTurn' | 'turns' | 'parallel' | 'known'> & {
  record: ProjectRecord
  /** Fires when the user wants to pause. */
  pause: AbortSignal
  /** How many tasks at once; more than one needs a branch. */
  slots: number
  iterations?: number
  limits: SharedLimits
  started: (record: ProjectRecord) => void
  progress: (record: ProjectRecord, working: ReadonlySet<string>) => void
}

/** The outcome of a task. */
export type Outcome =
  | { halt: ProjectStop }
  | { asks: string }
  | { done: Grade; halt?: ProjectStop }
  | 'blocked'
  | 'unfinished'

/** The user paused it. */
export function pausedBy({ project }: Pick<Site, 'project'>): ProjectStop {
  return { reason: 'paused', sentence: `You paused it. \`ralph execute ${project.name}\` resumes it.` }
}

export type Desk = {
  site: Site
  take(id: string, outcome: Outcome): void
  going(working: ReadonlySet<string>): Going
  /** Resolves when the worktrees of all completed tasks are removed. */
  closed(): Promise<void>
  close(): void
}

/** What all tasks of this execution share, and what it remembers besides the record. */
export function openDesk(execution: Execution, startedAt: number, spent: Map<string, Spending>): Desk {
  const { slots, limits } = execution
  const brake = openBrake(execution)
  const site = siteOf(execution, brake, openPurse({ limits, startedAt, spent }))
  const { keeper, turns } = site
  const asking = new Map<string, string>()
  const closing = new Set<Promise<void>>()
  return {
    site,
    take(id, outcome) {
      if (outcome === 'blocked' || outcome === 'unfinished') return
      if ('asks' in outcome) asking.set(id, outcome.asks)
      if ('halt' in outcome && outcome.halt) brake.halt(outcome.halt)
      if ('done' in outcome) {
        const closed = closeTask(site, id).catch((cause) => brake.halt(troubleOf(id, cause)))
        closed.catch(() => {}) // rethrown where it is awaited
        closing.add(closed) // others continue meanwhile
      }
    },
    going(working) {
      const { open } = keeper.record
      const halted = brake.halted()
      return {
        working,
        asking,
        // A task in the user's own checkout has it to itself.
        slots: open.every(({ worktree, halted: over }) => worktree || over) ? slots : 1,
        begun: new Set(open.filter((each) => !each.halted).map(({ task }) => task)),
        turns,
        ...(halted ? { halted } : {}),
      }
    },
    closed: async () => void (await Promise.all(closing)),
    close: brake.close,
  }
}

/** Why no new task starts: the first reason counts. */
type Brake = { halt(stop: ProjectStop): void; halted(): ProjectStop | undefined; rest: AbortSignal; close(): void }

function openBrake(execution: Pick<Execution, 'pause' | 'project'>): Brake {
  const { pause } = execution
  const rest = new AbortController()
  let halted: ProjectStop | undefined
  const halt = (stop: ProjectStop) => {
    halted ??= stop
    rest.abort()
  }
  const onPause = () => halt(pausedBy(execution))
  pause.addEventListener('abort', onPause, { once: true })
  return {
    halt,
    halted: () => halted,
    rest: rest.signal,
    close() {
      pause.removeEventListener('abort', onPause)
      rest.abort() // if one task fails unexpectedly, the others finish their iteration
    },
  }
}

function siteOf(execution: Execution, brake: Brake, purse: Purse): Site {
  const { project, record, slots, iterations, now, store } = execution
  // Tasks that agents add share the attempts of the original tasks.
  const most = iterations ?? attemptsLeft(record.tasks.tasks.map(planned)) + record.open.length
  return {
    ...execution,
    keeper: openKeeper(project, store, record),
    rest: brake.rest,
    parallel: slots > 1,
    known: new Map(),
    turns: { most, left: most, taken: 0, fixed: iterations !== undefined },
    saw(task, loop, fact) {
      purse.saw(loop)
      execution.saw(task, loop, fact)
    },
    mayTurn() {
      const over = purse.over(now())
      if (over) brake.halt(over)
      return !over && !brake.halted()
    },
    limits: () => purse.left(now()),
  }
}

/** What the user can fix in the repository stops the project; unexpected errors are rethrown. */
export function troubleOf(id: string, cause: unknown): ProjectStop {
  if (!(cause instanceof RalphError) || (cause.code !== 'git-failed' && cause.code !== 'setup-failed')) throw cause
  return { reason: cause.code, sentence: `${id}: ${cause.message}` }
}
