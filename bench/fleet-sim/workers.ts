/** The workers: they poll the queues they serve, run what they find, and send heartbeats. */

import { type Needs, needsKey, pickiestFirst, serves } from '../../src/fleet/needs.ts'
import type { LiveWorker } from '../../src/fleet/picture.ts'
import { paceFor } from '../../src/host/postgres/pace.ts'
import type { Costs } from './costs.ts'
import type { Database } from './database.ts'
import type { Timeline } from './timeline.ts'
import { type SimTask, TURN_SPREAD, type World } from './workload.ts'

export type Workers = {
  /** Puts tasks into their queues and wakes the workers that serve them. */
  enqueue(tasks: readonly SimTask[]): void
}

export type Reports = {
  started(task: SimTask, worker: string): void
  /** Its slot is free; it may still have to be merged. */
  left(task: SimTask): void
  finished(task: SimTask): void
}

type Queue = { needs: Needs; jobs: SimTask[]; workers: Worker[] }
type Worker = LiveWorker & { running: number; isLooking: boolean; wasCalled: boolean; queues: Queue[] }
type Settings = { offers: readonly LiveWorker[]; world: World; costs: Costs; timeline: Timeline; database: Database }

export function openWorkers(settings: Settings, reports: Reports): Workers {
  const { costs, timeline, database } = settings
  const run = runner(settings, reports)
  const pace = paceFor(settings.offers.reduce((sum, { concurrency }) => sum + concurrency, 0))
  const queues = new Map<string, Queue>()
  const workers = settings.offers.map(
    (offer): Worker => ({ ...offer, running: 0, isLooking: false, wasCalled: false, queues: [] }),
  )
  const look = (worker: Worker, at = 0) => {
    const queue = worker.queues[at]
    worker.isLooking = queue !== undefined && worker.running < worker.concurrency
    if (!worker.isLooking || !queue) {
      if (worker.wasCalled) called(worker)
      return
    }
    database.call('fetch', 1, () => {
      const task = queue.jobs.shift()
      if (!task) return look(worker, at + 1)
      worker.running++
      run(task, worker.id, () => {
        worker.running--
        called(worker)
      })
      look(worker)
    })
  }
  // A worker that is woken while it polls may already have polled that queue.
  const called = (worker: Worker) => {
    worker.wasCalled = worker.isLooking && worker.running < worker.concurrency
    if (!worker.isLooking && worker.running < worker.concurrency) look(worker)
  }
  for (const [index, worker] of workers.entries()) {
    const shift = index / workers.length
    every(timeline, costs.everyMs.workerBeat, shift, () => database.call('worker-beat'))
    every(timeline, pace.pollMs, shift, () => called(worker))
    // All are notified of every change. Each checks its leases, and for each task whether there are new orders.
    let seen = 0
    every(timeline, pace.togetherMs, shift, () => {
      if (seen !== database.changes()) database.call('look', 1 + worker.running)
      seen = database.changes()
    })
  }
  const queueOf = (needs: Needs): Queue => {
    const key = needsKey(needs)
    const queue = queues.get(key) ?? { needs, jobs: [], workers: workers.filter((worker) => serves(worker, needs)) }
    if (queues.has(key)) return queue
    queues.set(key, queue)
    for (const worker of queue.workers)
      worker.queues = [...worker.queues, queue].sort((a, b) => pickiestFirst(a.needs, b.needs))
    return queue
  }
  return {
    enqueue(tasks) {
      for (const task of tasks) queueOf(task.needs).jobs.push(task)
      timeline.after(pace.togetherMs, () => {
        for (const queue of new Set(tasks.map(({ needs }) => queueOf(needs)))) queue.workers.forEach(called)
      })
    },
  }
}

function every(timeline: Timeline, ms: number, shift: number, act: () => void): void {
  const again = () => {
    act()
    timeline.after(ms, again)
  }
  timeline.after(ms * shift, again)
}

/** One task from its lease to its end: each iteration is a turn, a push, a transcript, checks, and two saved facts. */
function runner({ world, costs, timeline, database }: Settings, reports: Reports) {
  const { chance, pace } = world
  return (task: SimTask, worker: string, onLeft: () => void) => {
    let isRunning = true
    const beat = () => {
      if (!isRunning) return
      database.call('beat')
      database.call('touch')
      timeline.after(costs.everyMs.beat, beat)
    }
    const end = () => {
      isRunning = false
      database.call('complete', 1, () =>
        database.call('settle', 1, () => {
          reports.left(task)
          onLeft()
          if (task.isMerged) timeline.after(pace.merge, () => reports.finished(task))
          else reports.finished(task)
        }),
      )
    }
    const iterate = (left: number) => {
      if (left === 0) return end()
      timeline.after(chance.lognormal(pace.turn, TURN_SPREAD) + pace.push, () => {
        database.call('transcript')
        database.call('save', 1, () => {
          timeline.after(chance.lognormal(pace.check, 0.5), () => database.call('save', 1, () => iterate(left - 1)))
        })
      })
    }
    database.call('lease', 1, () => {
      reports.started(task, worker)
      timeline.after(costs.everyMs.beat * chance.number(), beat)
      // The first tasks start in the middle of their work, as in a fleet that has run for days.
      const turns = timeline.now() < pace.setup ? 1 + chance.below(task.turns) : task.turns
      const startedMs = timeline.now() < pace.setup ? chance.number() * pace.turn : pace.setup
      timeline.after(startedMs, () => database.call('save', 1, () => iterate(turns)))
    })
  }
}
