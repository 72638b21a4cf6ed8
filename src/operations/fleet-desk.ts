/** Shared state of the parts of a fleet worker. */
import { RalphError } from '../error.ts'
import type { FleetTask } from '../formats/fleet-task.ts'
import type { FleetJob, FleetStore, QueueNeeds } from '../host/fleet-store.ts'
import type { Context } from './operation.ts'

/** `agents`: the agents it runs, each with its account. */
export type Desk = {
  context: Context
  store: FleetStore
  id: string
  agents: Map<string, string>
  labels: readonly string[]
  /** The queues it can serve, as last read. */
  queues: { known?: Promise<QueueNeeds[]> | undefined }
  /** The running jobs, by loop. */
  jobs: Map<string, FleetJob>
  say: (text: string, task?: FleetTask) => void
  /** One of its tasks made progress. */
  progress: () => void
}

export function fleetStore({ store }: Pick<Context, 'store'>): FleetStore {
  const found = store()
  if (found.fleet) return found as FleetStore // it has a fleet
  throw new RalphError(
    'usage',
    'This needs a fleet database. Pass --database postgres://user@host/name, or set RALPH_DATABASE.',
  )
}

export function sentenceOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
