/** What is observed of a fleet while it works. */
import type { Schedule } from '../../src/fleet/picture.ts'
import type { SimTask } from './workload.ts'

export type Seen = { waitsMs: number[]; slotMs: number; finished: number }

export type Sight = {
  finished: number
  iterations: number
  slotMs: number
  submitters: Map<string, Seen>
  /** How long the scheduler itself took, on this machine. */
  passMs: number[]
  /** How many tasks were held in an average pass, by reason. */
  held: Map<string, number>
}

export type Watch = {
  started(task: SimTask, now: number): void
  left(task: SimTask, now: number): void
  passed(ms: number, answer: Schedule): void
  /** Forgets what was observed so far. */
  measureFrom(now: number): void
  sight(now: number): Sight
}

export function newWatch(): Watch {
  const running = new Map<string, { task: SimTask; since: number }>()
  let sight = newSight()
  const of = (name: string): Seen => {
    const seen = sight.submitters.get(name) ?? { waitsMs: [], slotMs: 0, finished: 0 }
    sight.submitters.set(name, seen)
    return seen
  }
  const addSlotTime = ({ id, submitter }: SimTask, now: number) => {
    const ms = now - (running.get(id)?.since ?? now)
    of(submitter).slotMs += ms
    sight.slotMs += ms
  }
  return {
    started(task, now) {
      running.set(task.id, { task, since: now })
      of(task.submitter).waitsMs.push(now - task.readyAt)
    },
    left(task, now) {
      addSlotTime(task, now)
      running.delete(task.id)
      of(task.submitter).finished++
      sight.finished++
      sight.iterations += task.turns
    },
    passed(ms, { held }) {
      sight.passMs.push(ms)
      for (const { kind } of held.values()) sight.held.set(kind, (sight.held.get(kind) ?? 0) + 1)
    },
    measureFrom(now) {
      sight = newSight()
      for (const one of running.values()) one.since = now
    },
    sight(now) {
      for (const { task } of running.values()) addSlotTime(task, now)
      const held = [...sight.held].map(([kind, sum]): [string, number] => [kind, sum / sight.passMs.length])
      return { ...sight, held: new Map(held) }
    },
  }
}

function newSight(): Sight {
  return { finished: 0, iterations: 0, slotMs: 0, submitters: new Map(), passMs: [], held: new Map() }
}
