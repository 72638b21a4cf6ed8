/** What the database charges, in one table. Measured numbers replace those here with `--costs file.json`. */
import { readFileSync } from 'node:fs'

/** `cpuMs`: time on a core; `itemMs`: more of it for every task in the call. */
type Call = { cpuMs: number; itemMs: number }

export type CallName =
  | 'submit'
  | 'pass'
  | 'release'
  | 'fetch'
  | 'lease'
  | 'save'
  | 'transcript'
  | 'beat'
  | 'touch'
  | 'worker-beat'
  | 'complete'
  | 'settle'

/** What only reads commits nothing. */
export const READS: ReadonlySet<CallName> = new Set(['pass'])

/** They count an event and notify: each holds the counter row until its commit is on disk, so they go one by one. */
export const ORDERED: ReadonlySet<CallName> = new Set(['submit', 'release', 'save', 'settle'])

export type Costs = {
  calls: Record<CallName, Call>
  /** `commitMs`: until a commit is on disk; commits of different rows share that wait. `counterMs`: to update the counter. */
  database: { cores: number; commitMs: number; counterMs: number; connections: number }
  connections: { worker: number; server: number }
  everyMs: { beat: number; workerBeat: number; poll: number; pass: number; passGap: number; notify: number }
  bytes: { task: number; loop: number; save: number; iteration: number }
  /** How many tasks that wait a pass looks at. */
  candidates: number
}

/** From the notes on the stack: 1,000 jobs in 100 ms, a fetch in 2.5 ms, a small transaction in 1 to 2 ms with its fsync. */
export const COSTS: Costs = {
  calls: {
    submit: { cpuMs: 0.5, itemMs: 0.2 },
    pass: { cpuMs: 4, itemMs: 0.004 },
    release: { cpuMs: 1, itemMs: 0.15 },
    fetch: { cpuMs: 1.3, itemMs: 0 },
    lease: { cpuMs: 0.4, itemMs: 0 },
    save: { cpuMs: 0.8, itemMs: 0 },
    transcript: { cpuMs: 0.6, itemMs: 0 },
    beat: { cpuMs: 0.3, itemMs: 0 },
    touch: { cpuMs: 0.3, itemMs: 0 },
    'worker-beat': { cpuMs: 0.3, itemMs: 0 },
    complete: { cpuMs: 0.8, itemMs: 0 },
    settle: { cpuMs: 0.6, itemMs: 0 },
  },
  database: { cores: 4, commitMs: 1.2, counterMs: 0.1, connections: 400 },
  connections: { worker: 4, server: 12 },
  everyMs: { beat: 10_000, workerBeat: 10_000, poll: 30_000, pass: 1_000, passGap: 500, notify: 50 },
  bytes: { task: 3_200, loop: 6_000, save: 1_500, iteration: 30_000 },
  candidates: 2_000,
}

/** The file holds the same table, or the part of it that was measured. */
export function readCosts(file: string): Costs {
  return merged(COSTS, JSON.parse(readFileSync(file, 'utf8')), '') as Costs
}

function merged(known: unknown, given: unknown, where: string): unknown {
  if (typeof known === 'number') {
    if (typeof given === 'number' && given >= 0) return given
    throw new Error(`The costs have no number of 0 or more at ${where}.`)
  }
  if (typeof given !== 'object' || given === null) throw new Error(`The costs have no object at ${where || 'the top'}.`)
  const table = { ...(known as Record<string, unknown>) }
  for (const [key, value] of Object.entries(given)) {
    const path = where ? `${where}.${key}` : key
    if (!Object.hasOwn(table, key)) throw new Error(`The costs have an unknown key: ${path}.`)
    table[key] = merged(table[key], value, path)
  }
  return table
}
