/** Drains a worker of the fleet. */
import { RalphError } from '../error.ts'
import { fleetStore } from './fleet-desk.ts'
import type { Operation } from './operation.ts'

export const drainWorker: Operation<{ worker: string }, { worker: string }> = {
  name: 'drain_worker',
  effect: 'write',
  summary: 'Asks a worker to take no more tasks, finish its current iterations, and exit.',
  async run(context, { worker }) {
    const { workers } = fleetStore(context).fleet
    if (await workers.drain(worker)) return { worker }
    const known = (await workers.list()).map(({ id }) => id)
    const hint = known.length > 0 ? `Workers: ${known.slice(0, 20).join(', ')}.` : 'No worker is running.'
    throw new RalphError('input-invalid', `No such worker: "${worker}". ${hint}`, { field: 'worker' })
  },
}
