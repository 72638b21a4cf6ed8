/** Which part of a fleet reaches its limit first, and how close it is. */
import type { Costs } from './costs.ts'
import type { Outcome } from './simulate.ts'

export type Part = 'slots' | 'cores' | 'counter' | 'connections' | 'scheduler'

/** How much of each part is in use, from 0 to 1; above 1, more is needed than there is. */
export function loads({ scenario, usage, sight }: Outcome): Record<Part, number> {
  const { workers, concurrency, windowMs, costs } = scenario
  const passesMs = sight.passMs.reduce((sum, ms) => sum + ms, 0)
  return {
    slots: sight.slotMs / windowMs / (workers * concurrency),
    cores: usage.cores,
    counter: usage.counter,
    connections: connectionsOf(costs, workers) / costs.database.connections,
    scheduler: passesMs / windowMs,
  }
}

export function connectionsOf({ connections }: Costs, workers: number): number {
  return workers * connections.worker + connections.server
}

const TIGHT = 0.8

/** A fleet exists to keep every slot busy with agents: they are the limit only if nothing else is tight. */
export function bottleneck(outcome: Outcome): string {
  const all = loads(outcome)
  const parts = (Object.keys(all) as Part[]) // loads() has exactly these keys
    .filter((part) => part !== 'slots')
    .sort((one, other) => all[other] - all[one])
  const tight = parts.filter((part) => all[part] >= TIGHT)
  const words = (list: readonly Part[]) => list.map((part) => sentence(part, all[part], outcome)).join('; then ')
  if (tight.length > 0) return `${words(tight)}.`
  const next = `Next: ${words(parts.slice(0, 1))}.`
  return all.slots >= TIGHT
    ? `the agents: every slot is busy, so more workers get more done. ${next}`
    : `none: slots are idle. ${next}`
}

function sentence(part: Part, load: number, { scenario, usage }: Outcome): string {
  const { costs, workers } = scenario
  const used = `${(load * 100).toFixed(load < 0.1 ? 1 : 0)} %`
  switch (part) {
    case 'connections':
      return `connections: ${count(connectionsOf(costs, workers))} wanted, ${count(costs.database.connections)} allowed (${used})${load < TIGHT ? '' : ', so raise max_connections, or run fewer workers with more tasks each'}`
    case 'counter':
      return `the row that numbers events: one commit at a time, at most ${count(1_000 / (costs.database.counterMs + costs.database.commitMs))}/s (${used})`
    case 'cores':
      return `the cores of the database: ${count(usage.commitsPerSecond)} commits/s (${used})`
    case 'scheduler':
      return `the scheduler: one process, one core (${used})`
    case 'slots':
      return `the agents (${used})`
  }
}

export function count(number: number): string {
  return Math.round(number).toLocaleString('en-US')
}
