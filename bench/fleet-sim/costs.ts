/** What each call costs the database, in one table. `--costs file.json` replaces these numbers with measured ones. */
import { readFileSync } from 'node:fs'

/** `cpuMs`: CPU time; `itemMs`: additional CPU time for every task in the call. */
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
  | 'look'

/** Reads commit nothing. */
export const READS: ReadonlySet<CallName> = new Set(['pass', 'look'])

/** They number an event and notify: each locks the counter row until its commit is on disk, so they run one by one. */
export const ORDERED: ReadonlySet<CallName> = new Set(['submit', 'release', 'save', 'settle'])

export type Costs = {
  calls: Record<CallName, Call>
  /** `commitMs`: until a commit is on disk; commits of different rows share that wait. `counterMs`: to update the counter. */
  database: { cores: number; commitMs: number; counterMs: number; connections: number }
  connections: { worker: number; server: number }
  everyMs: { beat: number; workerBeat: number; pass: number; passGap: number }
  bytes: { task: number; loop: number; save: number; iteration: number }
  /** How many waiting tasks a pass looks at. */
  candidates: number
}

/**
 * Measured with `node bench/fleet-costs.ts` on 2026-11-18: PostgreSQL 18 with fsync on a virtual disk, 2 shared cores of an AMD
 * EPYC, no network in between. Not measured: the cores and connections of the database (those of a small server), the number of
 * rows a pass looks at, and the connections of a worker (2 while idle, at most 9).
 */
export const COSTS: Costs = {
  calls: {
    submit: { cpuMs: 0.65, itemMs: 0.077 },
    pass: { cpuMs: 2.2, itemMs: 0.004 },
    release: { cpuMs: 1.7, itemMs: 0.049 },
    fetch: { cpuMs: 0.66, itemMs: 0 },
    lease: { cpuMs: 1.5, itemMs: 0 },
    save: { cpuMs: 1.2, itemMs: 0 },
    transcript: { cpuMs: 0.83, itemMs: 0 },
    beat: { cpuMs: 0.36, itemMs: 0 },
    touch: { cpuMs: 0.39, itemMs: 0 },
    'worker-beat': { cpuMs: 0.42, itemMs: 0 },
    complete: { cpuMs: 0.49, itemMs: 0 },
    settle: { cpuMs: 1.0, itemMs: 0 },
    look: { cpuMs: 0, itemMs: 0.11 },
  },
  database: { cores: 4, commitMs: 0.76, counterMs: 0.2, connections: 400 },
  connections: { worker: 3, server: 12 },
  everyMs: { beat: 10_000, workerBeat: 5_000, pass: 1_000, passGap: 100 },
  bytes: { task: 1_600, loop: 2_900, save: 1_000, iteration: 8_700 },
  candidates: 2_000,
}

/** The file has the same table, or the part of it that was measured. */
export function readCosts(file: string): Costs {
  return merged(COSTS, JSON.parse(readFileSync(file, 'utf8')), '') as Costs
}

function merged(known: unknown, given: unknown, where: string): unknown {
  if (typeof known === 'number') {
    if (typeof given === 'number' && given >= 0) return given
    throw new Error(`The costs must have a number of 0 or more at ${where}.`)
  }
  if (typeof given !== 'object' || given === null)
    throw new Error(`The costs must have an object at ${where || 'the top level'}.`)
  const table = { ...(known as Record<string, unknown>) }
  for (const [key, value] of Object.entries(given)) {
    const path = where ? `${where}.${key}` : key
    if (!Object.hasOwn(table, key)) throw new Error(`The costs have an unknown key: ${path}.`)
    table[key] = merged(table[key], value, path)
  }
  return table
}
