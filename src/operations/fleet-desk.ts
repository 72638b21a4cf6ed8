/** What the parts of a worker of the fleet share. */
import { RalphError } from '../error.ts'
import type { FleetTask } from '../formats/fleet-task.ts'
import type { FleetJob, FleetStore, QueueNeeds } from '../host/fleet-store.ts'
import type { Context } from './operation.ts'

/** `agents`: those that it runs, each with the account that it uses. */
export type Desk = {
  context: Context
  store: FleetStore
  id: string
  agents: Map<string, string>
  labels: readonly string[]
  /** The queues that it can serve, as far as that is known just now. */
  queues: { known?: Promise<QueueNeeds[]> | undefined }
  /** The jobs under way, by their loops. */
  jobs: Map<string, FleetJob>
  say: (text: string, task?: FleetTask) => void
  /** One of its tasks got on. */
  progress: () => void
}

export function fleetStore({ store }: Pick<Context, 'store'>): FleetStore {
  const found = store()
  if (found.fleet) return found as FleetStore // as it has one
  throw new RalphError(
    'usage',
    'This needs the database of a fleet. Pass --database postgres://user@host/name, or set RALPH_DATABASE.',
  )
}

export function sentenceOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
