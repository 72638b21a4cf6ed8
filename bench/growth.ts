/**
 * ralph's own time per iteration, early and late in a long loop: the real engine and store, an agent that answers
 * instantly. The two are measured alternately, so that a disk still busy with earlier writes slows both.
 */
import { openInstantLoop } from './instant-loop.ts'
import { inTemporaryFolder } from './leftovers.ts'
import type { Row } from './row.ts'
import { spread } from './spread.ts'

const ROUNDS = 8
const EARLY = 10
const LATE = 10_000
const WINDOW = 100

export async function* growth(): AsyncGenerator<Row> {
  const early: number[][] = []
  const late: number[][] = []
  await inTemporaryFolder(async (home) => {
    const long = await openInstantLoop(home)
    await long.advance(LATE)
    for (let round = 0; round < ROUNDS; round++) {
      early.push(await inTemporaryFolder(beginning))
      late.push(await long.advance(WINDOW))
    }
    await long.close()
  })
  const [first, last] = [spread(early), spread(late)]
  yield {
    what: 'growth: own time of iteration 10,000',
    measured: last,
    unit: 'ms',
    yardstick: { what: 'iteration 10', measured: first },
    figure: { value: last.calm / first.calm, unit: '×' },
    budget: 1.2,
  }
}

async function beginning(home: string): Promise<number[]> {
  const loop = await openInstantLoop(home)
  await loop.advance(EARLY)
  const times = await loop.advance(WINDOW)
  await loop.close()
  return times
}
