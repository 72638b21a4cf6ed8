/** The scheduler of the fleet: one worker at a time releases tasks into the queue, and recovers those of dead workers. */
import { setTimeout as sleep } from 'node:timers/promises'
import { passOver } from '../fleet/pass.ts'
import type { FleetStore } from '../host/fleet-store.ts'
import { oneByOne } from './one-by-one.ts'

export type Scheduler = { stop(): Promise<void> }

type Scheduling = { id: string; say: (text: string) => void; now: () => number }

/** How often the other workers check whether the scheduler is still alive. */
const TERM_MS = 5_000
/** Batches changes that arrive together. */
const TOGETHER_MS = 100
const LOOK_MS = 1_000
const SUPERVISE_MS = 5_000
const PRUNE_MS = 3_600_000
const DAY_MS = 86_400_000

export function openScheduler(store: FleetStore, { id, say, now }: Scheduling): Scheduler {
  const { fleet } = store
  const ending = new AbortController()
  const pace = openPace()
  let isOurs = false
  let tried = -TERM_MS
  let supervised = 0
  let pruned = 0

  async function look(): Promise<void> {
    if (ending.signal.aborted || (!isOurs && performance.now() - tried < TERM_MS)) return
    tried = performance.now()
    const released = await fleet.pass(id, (view) => passOver(view, pace.recent()).releases)
    isOurs = released !== undefined
    if (!isOurs) return
    pace.add(released ?? 0)
    if (performance.now() - supervised > SUPERVISE_MS) {
      supervised = performance.now()
      await fleet.queue.supervise()
    }
    if (performance.now() - pruned > PRUNE_MS) {
      pruned = performance.now()
      const { keep_days } = await fleet.settings.load()
      await fleet.prune(now() - keep_days * DAY_MS)
    }
    await sleep(TOGETHER_MS)
  }

  const looks = oneByOne(look, (cause) => say(cause instanceof Error ? cause.message : String(cause)))
  const unwatch = store.onChange(looks.wake)
  const timer = setInterval(looks.wake, LOOK_MS)
  looks.wake()
  return {
    async stop() {
      ending.abort()
      unwatch()
      clearInterval(timer)
      await looks.rest()
    },
  }
}

const RECENT_MS = 2_000

/** How many tasks were released recently: that many must be queued, or fast workers would wait for the next pass. */
function openPace(): { add(count: number): void; recent(): number } {
  const releases: { at: number; count: number }[] = []
  const recent = () => releases.filter(({ at }) => performance.now() - at < RECENT_MS)
  return {
    add(count) {
      releases.splice(0, releases.length, ...recent(), { at: performance.now(), count })
    },
    recent: () => recent().reduce((sum, { count }) => sum + count, 0),
  }
}
