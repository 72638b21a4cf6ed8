/**
 * A model of one PostgreSQL: a call takes time on one of its cores, then waits until its commit is on disk. Calls that number
 * an event lock the counter row meanwhile, and so wait for each other.
 */
import { type CallName, type Costs, ORDERED, READS } from './costs.ts'
import type { Timeline } from './timeline.ts'

export type Database = {
  call(name: CallName, items?: number, then?: () => void): void
  /** Forgets what was counted so far: the fleet has warmed up. */
  measureFromNow(): void
  /** How often it has notified its listeners of a change. */
  changes(): number
  usage(): Usage
}

export type Usage = {
  /** Shares of the time, from 0 to 1; above 1, more work arrived than it could do. */
  cores: number
  counter: number
  perSecond: Record<CallName, number>
  commitsPerSecond: number
  /** How long calls that number an event took, from the call to the commit. */
  orderedMs: number[]
}

export function openDatabase({ calls, database }: Costs, timeline: Timeline): Database {
  const cores = new Float64Array(database.cores) // when each is free
  let counterFreeAt = 0
  let changes = 0
  let tally = newTally(0)

  const onCore = (ms: number): number => {
    const core = cores.indexOf(Math.min(...cores))
    const end = Math.max(timeline.now(), cores[core] ?? 0) + ms
    cores[core] = end
    tally.coreMs += ms
    return end
  }
  const counted = (began: number, then?: () => void) => {
    const heldMs = database.counterMs + database.commitMs
    counterFreeAt = Math.max(timeline.now(), counterFreeAt) + heldMs
    tally.counterMs += heldMs
    tally.orderedMs.push(counterFreeAt - began)
    changes++
    if (then) timeline.at(counterFreeAt, then)
  }
  return {
    call(name, items = 1, then) {
      const began = timeline.now()
      tally.calls[name] = (tally.calls[name] ?? 0) + 1
      const end = onCore(calls[name].cpuMs + items * calls[name].itemMs)
      if (ORDERED.has(name)) timeline.at(end, () => counted(began, then))
      else if (then) timeline.at(READS.has(name) ? end : end + database.commitMs, then)
    },
    measureFromNow() {
      tally = newTally(timeline.now())
    },
    changes: () => changes,
    usage() {
      const ms = timeline.now() - tally.since
      const names = Object.keys(calls) as CallName[] // the table has exactly these keys
      const perSecond = Object.fromEntries(names.map((name) => [name, ((tally.calls[name] ?? 0) * 1_000) / ms]))
      const commits = names.filter((name) => !READS.has(name)).reduce((sum, name) => sum + (perSecond[name] ?? 0), 0)
      return {
        cores: tally.coreMs / ms / database.cores,
        counter: tally.counterMs / ms,
        perSecond: perSecond as Usage['perSecond'],
        commitsPerSecond: commits,
        orderedMs: tally.orderedMs,
      }
    },
  }
}

type Tally = {
  since: number
  coreMs: number
  counterMs: number
  orderedMs: number[]
  calls: Partial<Record<CallName, number>>
}

function newTally(since: number): Tally {
  return { since, coreMs: 0, counterMs: 0, orderedMs: [], calls: {} }
}
