/** One execution of a project: what its tasks share, what they have used together, and why nothing new is begun any more. */
import { overBudget, whatIsLeft } from '../engine/limits.ts'
import type { Limits } from '../engine/loop.ts'
import { attemptsLeft, type Going, type ProjectStop } from '../engine/schedule.ts'
import { RalphError } from '../error.ts'
import { closeTask } from './merge.ts'
import { openKeeper, type ProjectRecord, planned } from './record.ts'
import type { Site } from './site.ts'

/** What is asked for. */
export type Execution = Omit<
  Site,
  'keeper' | 'rest' | 'limits' | 'mayTurn' | 'turns' | 'mostIterations' | 'parallel'
> & {
  record: ProjectRecord
  /** Fires when a person wants it to pause. */
  pause: AbortSignal
  /** How many tasks at a time; more than one needs a branch. */
  slots: number
  iterations?: number
  /** For all tasks together. */
  limits: Omit<Limits, 'iterations' | 'ceiling'>
  begun: (record: ProjectRecord) => void
  progress: (record: ProjectRecord, working: ReadonlySet<string>) => void
}

/** What became of a task. */
export type Outcome =
  | { halt: ProjectStop }
  | { asks: string }
  | { done: 'verified' | 'claimed'; halt?: ProjectStop }
  | 'blocked'
  | 'unfinished'

/** A person wants it to rest. */
export function pausedBy({ project }: Pick<Site, 'project'>): ProjectStop {
  return { reason: 'paused', sentence: `You paused it. \`ralph execute ${project.name}\` goes on.` }
}

export type Desk = {
  site: Site
  take(id: string, outcome: Outcome): void
  going(working: ReadonlySet<string>): Going
  /** Resolves when the work trees of all completed tasks are gone. */
  closed(): Promise<void>
  close(): void
}

/** What is shared by all tasks of this execution, and what it remembers besides the record. */
export function openDesk(execution: Execution, startedAt: number, spent: Map<string, Spending>): Desk {
  const { record, pause, slots, iterations, limits, now, store } = execution
  const asking = new Map<string, string>()
  const closing = new Set<Promise<void>>()
  const rest = new AbortController()
  let halted: ProjectStop | undefined
  const halt = (stop: ProjectStop) => {
    halted ??= stop
    rest.abort()
  }
  const onPause = () => halt(pausedBy(execution))
  pause.addEventListener('abort', onPause, { once: true })
  // Tasks that agents add share the attempts of those they found.
  const most = iterations ?? attemptsLeft(record.tasks.tasks.map(planned)) + record.open.length
  const turns = { most, left: most }
  const total = () => {
    const sums = [...spent.values()]
    return {
      startedAt,
      restedMs: 0,
      costUsd: sums.reduce((sum, { before, now: after }) => sum + after.costUsd - before.costUsd, 0),
      tokens: sums.reduce((sum, { before, now: after }) => sum + after.tokens - before.tokens, 0),
    }
  }
  const keeper = openKeeper(execution.project, store, record)
  const site: Site = {
    ...execution,
    keeper,
    rest: rest.signal,
    parallel: slots > 1,
    turns,
    mostIterations: record.iteration + most,
    saw(task, loop, fact) {
      const before = spent.get(loop.id)?.before ?? { costUsd: 0, tokens: 0 }
      spent.set(loop.id, { before, now: loop.tally })
      execution.saw(task, loop, fact)
    },
    mayTurn() {
      const over = overBudget({ limits, tally: total() }, now())
      if (over) halt(over)
      return !over && !halted
    },
    limits: () => ({ ...limits, ...whatIsLeft(limits, total(), now()) }),
  }
  return {
    site,
    take(id, outcome) {
      if (outcome === 'blocked' || outcome === 'unfinished') return
      if ('asks' in outcome) asking.set(id, outcome.asks)
      if ('halt' in outcome && outcome.halt) halt(outcome.halt)
      if ('done' in outcome) closing.add(closeTask(site, id, outcome.done).catch((cause) => halt(troubleOf(id, cause)))) // others go on meanwhile
    },
    going: (working) => ({
      working,
      asking,
      // A task in the person's own files has them for itself.
      slots: keeper.record.open.every(({ worktree, halted: over }) => worktree || over) ? slots : 1,
      begun: new Set(keeper.record.open.filter((open) => !open.halted).map(({ task }) => task)),
      turns,
      ...(halted ? { halted } : {}),
    }),
    closed: async () => void (await Promise.all(closing)),
    close() {
      pause.removeEventListener('abort', onPause)
      rest.abort() // should one task have failed in a way nobody foresaw, the others end their iteration
    },
  }
}

type Spent = { costUsd: number; tokens: number }

/** Of a loop: before this execution, and in all. */
type Spending = { before: Spent; now: Spent }

export async function spentBefore({ record, store }: Execution): Promise<Map<string, Spending>> {
  const spent = new Map<string, Spending>()
  for (const id of record.open.flatMap(({ loop, merging }) => (merging ? [loop, merging.loop] : [loop]))) {
    const known = await store.load(id).catch(() => undefined) // it was killed before its loop was made
    if (known) spent.set(id, { before: known.tally, now: known.tally })
  }
  return spent
}

/** What a person can mend in their repository stops the project; what nobody foresaw is thrown on. */
export function troubleOf(id: string, cause: unknown): ProjectStop {
  if (!(cause instanceof RalphError) || cause.code !== 'git-failed') throw cause
  return { reason: 'git-failed', sentence: `${id}: ${cause.message}` }
}
