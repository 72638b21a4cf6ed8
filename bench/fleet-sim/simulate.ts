/** Simulates one fleet for a while, with the real scheduler and a model of the database. */
import type { Busy, Picture } from '../../src/fleet/picture.ts'
import { openBacklog } from './backlog.ts'
import { seededChance } from './chance.ts'
import type { Costs } from './costs.ts'
import { openDatabase, type Usage } from './database.ts'
import { openPasses } from './passes.ts'
import { newTimeline } from './timeline.ts'
import { newWatch, type Sight } from './watch.ts'
import { openWorkers } from './workers.ts'
import { newWorker, type Pace, type SimTask } from './workload.ts'

export type Scenario = {
  workers: number
  /** Tasks that one worker runs at the same time. */
  concurrency: number
  /** How long the backlog is at the start. */
  tasks: number
  pace: Pace
  warmUpMs: number
  windowMs: number
  seed: number
  costs: Costs
}

export type Outcome = { scenario: Scenario; usage: Usage; sight: Sight }

export function simulate(scenario: Scenario): Outcome {
  const { costs, pace, warmUpMs, windowMs } = scenario
  const timeline = newTimeline()
  const database = openDatabase(costs, timeline)
  const watch = newWatch()
  const world = { chance: seededChance(scenario.seed), repos: Math.max(10, scenario.workers), pace }
  const offers = Array.from({ length: scenario.workers }, (_, index) => newWorker(index, scenario.concurrency))
  const under = newUnderWay()
  const slots = scenario.workers * scenario.concurrency
  const backlog = openBacklog({ world, timeline, slots, ...scenario, candidates: costs.candidates }, (tasks) => {
    database.call('submit', tasks)
    passes.want()
  })
  const workers = openWorkers(
    { offers, world, costs, timeline, database },
    {
      started(task, worker) {
        under.put(task, 'running', worker)
        watch.started(task, timeline.now())
      },
      left(task) {
        under.leave(task, timeline.now())
        watch.left(task, timeline.now())
        passes.want()
      },
      finished(task) {
        under.end(task)
        backlog.finish(task.id)
        passes.want()
      },
    },
  )
  const passes = openPasses({
    costs,
    timeline,
    database,
    picture: () => ({ ...under.picture(timeline.now()), waiting: backlog.candidates(), workers: offers }),
    release(ids) {
      const tasks = ids.map(backlog.take)
      for (const task of tasks) under.release(task, timeline.now())
      workers.enqueue(tasks)
    },
    took: watch.passed,
  })
  passes.want()
  timeline.runUntil(warmUpMs)
  database.measureFromNow()
  watch.measureFrom(timeline.now())
  timeline.runUntil(warmUpMs + windowMs)
  return { scenario, usage: database.usage(), sight: watch.sight(timeline.now()) }
}

const READ_AHEAD_MS = 2_000

/** The running tasks, as they would be in the tables of the fleet. */
function newUnderWay() {
  const busy = new Map<string, Busy>()
  const releasedAt = new Map<string, number>()
  let left: number[] = []
  const put = (task: SimTask, state: Busy['state'], worker?: string) => {
    const { id, submitter, repo, base, branch, needs, touches } = task
    const row = { id, submitter, repo, base, branch, needs, touches, state }
    busy.set(id, worker === undefined ? row : { ...row, worker })
  }
  return {
    put,
    release(task: SimTask, now: number) {
      put(task, 'released')
      releasedAt.set(task.submitter, now)
    },
    leave(task: SimTask, now: number) {
      put(task, 'merging')
      left.push(now)
    },
    end: ({ id }: SimTask) => busy.delete(id),
    picture(now: number): Omit<Picture, 'waiting' | 'workers'> {
      left = left.filter((time) => time > now - READ_AHEAD_MS)
      return {
        now,
        busy: [...busy.values()],
        pausedUntil: new Map(),
        leftUsd: () => undefined,
        releasedAt: (name) => releasedAt.get(name),
        readAhead: Math.max(1, left.length),
      }
    },
  }
}
