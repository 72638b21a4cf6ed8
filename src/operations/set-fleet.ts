/** Changes the settings of the whole fleet. */
import type { FleetSettings } from '../host/fleet-store.ts'
import { refuseBelowTurn } from './below-turn.ts'
import { fleetStore } from './fleet-desk.ts'
import type { Operation } from './operation.ts'

export const setFleet: Operation<Partial<FleetSettings>, { settings: FleetSettings }> = {
  name: 'set_fleet',
  effect: 'write',
  person: true,
  summary: 'Changes the settings of the fleet: how long tasks are kept, and when a worker counts as dead.',
  async run(context, patch) {
    await refuseBelowTurn(context)
    return { settings: await fleetStore(context).fleet.settings.save(patch) }
  },
}
