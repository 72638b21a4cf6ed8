/** Shows the fleet at a glance. */
import { type FleetAccount, type FleetState, type FleetWorker, WORKER_GONE_MS } from '../formats/fleet-task.ts'
import type { FleetBudget, FleetSettings } from '../host/fleet-store.ts'
import { fleetStore } from './fleet-desk.ts'
import type { Operation } from './operation.ts'

/** `silent_ms`: since its last heartbeat. `idle_ms`: since one of its tasks last made progress. */
export type ListedWorker = FleetWorker & { alive: boolean; silent_ms: number; idle_ms: number }

export type Fleet = {
  workers: ListedWorker[]
  counts: Partial<Record<FleetState, number>>
  accounts: FleetAccount[]
  budgets: FleetBudget[]
  settings: FleetSettings
  /** By the clock of the database, like all times of the fleet. */
  now: number
}

export const getFleet: Operation<Record<never, never>, Fleet> = {
  name: 'get_fleet',
  effect: 'read',
  summary: 'Shows the fleet: its workers, how many tasks are in each state, paused accounts, budgets and settings.',
  async run(context) {
    const { fleet } = fleetStore(context)
    const [workers, counts, accounts, budgets, settings] = await Promise.all([
      fleet.workers.list(true),
      fleet.counts(),
      fleet.accounts.list(),
      fleet.budgets.list(),
      fleet.settings.load(),
    ])
    const now = await fleet.now()
    return { workers: workers.map((worker) => listedWorker(worker, now)), counts, accounts, budgets, settings, now }
  },
}

function listedWorker(worker: FleetWorker, now: number): ListedWorker {
  const silent_ms = Math.max(0, now - worker.beat_at)
  return { ...worker, silent_ms, idle_ms: Math.max(0, now - worker.progress_at), alive: silent_ms < WORKER_GONE_MS }
}
