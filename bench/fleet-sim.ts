/** `node bench/fleet-sim.ts`: simulates a fleet of any size, with the real scheduler and a model of the database. */
import { parseArgs } from 'node:util'
import { COSTS, type Costs, readCosts } from './fleet-sim/costs.ts'
import { type Outcome, type Scenario, simulate } from './fleet-sim/simulate.ts'
import { bottleneckLines, duration, heldLines, loadTable, waitTable, wholeTable } from './fleet-sim/tables.ts'
import { AT_ONCE, MINUTES } from './fleet-sim/workload.ts'

const USAGE = `Usage: node bench/fleet-sim.ts [--workers 10,100,1000] [--concurrency 4] [--tasks 1000000] [--minutes N]
  [--seed 1] [--costs file.json]
--minutes is the simulated time for which a fleet is observed (default: shorter for larger fleets).
--costs replaces costs of the model with measured ones: all or some of the keys in bench/fleet-sim/costs.ts.`

const MINUTE = 60_000

/** Larger fleets do more per minute, so a shorter time shows as much and takes as long to simulate. */
const WATCHED_MINUTES = 6_000

const WARM_UP_MINUTES = 20

/** When looking for the limit, tasks must never run out. */
const ENDLESS = 1e9

const FAIR =
  'Fair share: waits from the moment all dependencies were finished. With first come, first served, the wait would be the whole backlog.'

type Asked = {
  workers: number[]
  concurrency: number
  tasks: number
  minutes: number | undefined
  seed: number
  costs: Costs
}

process.exitCode = main(process.argv.slice(2))

function main(args: string[]): number {
  const asked = readArguments(args)
  if (typeof asked === 'string') {
    console.error(`${asked}\n${USAGE}`)
    return 2
  }
  const began = performance.now()
  console.log(
    'The scheduler is the real one, and its passes are timed on this machine. The database is a model (bench/fleet-sim/costs.ts); its connections are counted, but none is refused.',
  )
  slowAgents(asked)
  agentsAtOnce(asked)
  console.log(`\nSimulated in ${duration(performance.now() - began)}, with seed ${asked.seed}.`)
  return 0
}

function slowAgents(asked: Asked): void {
  const outcomes = asked.workers.map((workers) => {
    const minutes = asked.minutes ?? Math.min(20 * 60, WATCHED_MINUTES / workers)
    return simulate({
      ...scenario(asked, workers),
      pace: MINUTES,
      warmUpMs: WARM_UP_MINUTES * MINUTE,
      windowMs: minutes * MINUTE,
    })
  })
  console.log(
    `\nAgents that take minutes: a backlog of ${asked.tasks.toLocaleString('en-US')} tasks, and three other submitters.`,
  )
  console.log(`Every call is simulated, after ${WARM_UP_MINUTES} min of warm-up: ${watched(outcomes)}.\n`)
  console.log(loadTable(outcomes))
  console.log(`\nBottleneck, by workers:\n${bottleneckLines(outcomes)}`)
  console.log(`\n${FAIR}\n`)
  console.log(waitTable(outcomes))
  console.log(
    `\nHeld in an average pass, which looks at up to ${asked.costs.candidates} tasks:\n${heldLines(outcomes)}`,
  )
  console.log('\nThe whole backlog, extrapolated from the rates above\n')
  console.log(wholeTable(outcomes))
}

function agentsAtOnce(asked: Asked): void {
  const outcomes = asked.workers.map((workers) =>
    simulate({ ...scenario(asked, workers), tasks: ENDLESS, pace: AT_ONCE, warmUpMs: 5_000, windowMs: 20_000 }),
  )
  console.log('\nThe limit: agents that answer instantly, one iteration per task, no git; 20 s after 5 s of warm-up\n')
  console.log(loadTable(outcomes))
  console.log(`\nBottleneck, by workers:\n${bottleneckLines(outcomes)}`)
}

function scenario({ concurrency, tasks, seed, costs }: Asked, workers: number) {
  return { workers, concurrency, tasks, seed, costs } satisfies Partial<Scenario>
}

function watched(outcomes: readonly Outcome[]): string {
  return outcomes
    .map(({ scenario: { workers, windowMs }, sight }) => {
      const tasks = sight.finished.toLocaleString('en-US')
      return `${duration(windowMs)} with ${workers.toLocaleString('en-US')} workers (${tasks} tasks)`
    })
    .join(', ')
}

function readArguments(args: string[]): Asked | string {
  try {
    const text = { type: 'string' } as const
    const { values } = parseArgs({
      args,
      options: { workers: text, concurrency: text, tasks: text, minutes: text, seed: text, costs: text },
    })
    const { workers = '10,100,1000', concurrency = '4', tasks = '1000000', minutes, seed = '1', costs } = values
    const asked = {
      workers: workers.split(',').map(Number),
      concurrency: Number(concurrency),
      tasks: Number(tasks),
      minutes: minutes === undefined ? undefined : Number(minutes),
      seed: Number(seed),
      costs: costs === undefined ? COSTS : readCosts(costs),
    }
    const numbers = [...asked.workers, asked.concurrency, asked.tasks, asked.minutes ?? 1, asked.seed]
    return numbers.every((number) => Number.isInteger(number) && number > 0)
      ? asked
      : 'Numbers must be whole and above 0.'
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
}
