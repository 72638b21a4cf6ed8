/** What ralph does itself in an iteration, early and late in a long loop: the real engine and store, an agent that answers at once. */
import { driveInstantly } from './instant-loop.ts'
import { inTemporaryFolder } from './leftovers.ts'
import type { Row } from './row.ts'
import { spread } from './spread.ts'

const LOOPS = 3
const EARLY = [5, 105] as const
const LATE = [9_950, 10_050] as const

export async function* growth(): AsyncGenerator<Row> {
  // The compiler of the engine learns from this one; otherwise the early iterations would look slow and hide all growth.
  await inTemporaryFolder((home) => driveInstantly(home, 3_000))
  const loops: number[][] = []
  for (let loop = 0; loop < LOOPS; loop++) loops.push(await inTemporaryFolder((home) => driveInstantly(home, LATE[1])))
  const early = spread(loops.map((times) => times.slice(...EARLY)))
  const late = spread(loops.map((times) => times.slice(...LATE)))
  yield {
    what: 'growth: own time of iteration 10,000',
    measured: late,
    unit: 'ms',
    yardstick: { what: 'iteration 10', measured: early },
    figure: { value: late.calm / early.calm, unit: '×' },
    budget: 1.2,
  }
  // Means include what happens rarely, such as SQLite moving its log into the database.
  const first = spread(loops.map((times) => [mean(times.slice(0, 1_000))]))
  const last = spread(loops.map((times) => [mean(times.slice(-1_000))]))
  yield {
    what: 'mean of the last 1,000 of them',
    measured: last,
    unit: 'ms',
    yardstick: { what: 'mean of the first 1,000', measured: first },
    figure: { value: last.calm / first.calm, unit: '×' },
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
