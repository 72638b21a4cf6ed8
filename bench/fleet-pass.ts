/** One pass of the scheduler over a large fleet: 10,000 tasks are waiting, and 1,000 workers are busy with 4,000. */
import type { Busy, Picture } from '../src/fleet/picture.ts'
import { schedule } from '../src/fleet/schedule.ts'
import { seededChance } from './fleet-sim/chance.ts'
import { BACKLOG, MINUTES, newTask, newWorker, SUBMITTERS } from './fleet-sim/workload.ts'
import type { Row } from './row.ts'
import { sideBySide, spread, timeEach } from './spread.ts'

const ROUNDS = 5
const PASSES = 10
const WORKERS = 1_000
const SLOTS = 4

export async function* fleetPass(): AsyncGenerator<Row> {
  const [idle, full] = [pictureOf(0), pictureOf(WORKERS * SLOTS)]
  const times = await sideBySide(ROUNDS, {
    idle: () => timeEach(PASSES, () => schedule(idle)),
    full: () => timeEach(PASSES, () => schedule(full)),
  })
  for (const [what, rounds] of [
    ['every slot busy', times.full],
    ['every slot free', times.idle],
  ] as const) {
    const measured = spread(rounds)
    yield {
      what: `fleet: a pass over 10,000 tasks, ${what}`,
      measured,
      unit: 'ms',
      figure: { value: measured.calm, unit: 'ms' },
      budget: 50,
    }
  }
}

function pictureOf(running: number): Picture {
  const world = { chance: seededChance(1), repos: WORKERS / 4, pace: MINUTES }
  const names = [BACKLOG, ...SUBMITTERS.map(({ name }) => name)]
  const taskOf = (index: number) => newTask(`t${index}`, names[index % names.length] ?? BACKLOG, index, [], world)
  return {
    now: 1e9,
    waiting: Array.from({ length: 10_000 }, (_, index) => taskOf(index)),
    busy: Array.from({ length: running }, (_, index): Busy => {
      const worker = `worker-${Math.floor(index / SLOTS)}`
      return { ...taskOf(10_000 + index), state: 'running', worker }
    }),
    workers: Array.from({ length: WORKERS }, (_, index) => newWorker(index, SLOTS)),
    pausedUntil: new Map([['claude-3', 2e9]]),
    leftUsd: () => 100_000,
    releasedAt: () => undefined,
  }
}
