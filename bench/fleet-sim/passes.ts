/** When the scheduler runs: soon after a change, and at least every second. */
import type { Picture, Schedule } from '../../src/fleet/picture.ts'
import { schedule } from '../../src/fleet/schedule.ts'
import type { Costs } from './costs.ts'
import type { Database } from './database.ts'
import type { Timeline } from './timeline.ts'

export type Passes = {
  /** Something changed. */
  want(): void
}

type Settings = {
  costs: Costs
  timeline: Timeline
  database: Database
  picture(): Picture
  release(ids: readonly string[]): void
  /** The real time that a pass took on this machine. It is only reported, and does not affect simulated time. */
  took(ms: number, answer: Schedule): void
}

export function openPasses({ costs, timeline, database, picture, release, took }: Settings): Passes {
  let state: 'idle' | 'planned' | 'under-way' | 'outdated' = 'idle'
  let last = Number.NEGATIVE_INFINITY
  const want = () => {
    if (state === 'under-way') state = 'outdated'
    if (state !== 'idle') return
    state = 'planned'
    timeline.at(last + costs.everyMs.passGap, pass)
  }
  const done = () => {
    const isOutdated = state === 'outdated'
    state = 'idle'
    if (isOutdated) want()
  }
  const pass = () => {
    state = 'under-way'
    last = timeline.now()
    database.call('pass', rowsOf(picture()), () => {
      const here = picture()
      const began = performance.now()
      const answer = schedule(here)
      took(performance.now() - began, answer)
      if (answer.release.length === 0) return done()
      database.call('release', answer.release.length, () => {
        release(answer.release)
        want() // the tasks behind those are visible now
        done()
      })
    })
  }
  // If nothing has changed, the answer is the same: only the database call is simulated, without the scheduler.
  const tick = () => {
    if (timeline.now() - last >= costs.everyMs.pass) {
      last = timeline.now()
      database.call('pass', rowsOf(picture()))
    }
    timeline.after(costs.everyMs.pass, tick)
  }
  tick()
  return { want }
}

function rowsOf({ waiting, busy, workers }: Picture): number {
  return waiting.length + busy.length + workers.length
}
