/** Sets what a submitter may spend per day. */
import { mustBeSubmitter } from '../fleet/submittable.ts'
import type { FleetBudget } from '../host/fleet-store.ts'
import { refuseBelowTurn } from './below-turn.ts'
import { fleetStore } from './fleet-desk.ts'
import type { Operation } from './operation.ts'

/** `*`: every submitter without its own budget. Null: removes the limit. */
export type SettingBudget = { submitter: string; usd_per_day: number | null }

export const setBudget: Operation<SettingBudget, { budgets: FleetBudget[] }> = {
  name: 'set_budget',
  effect: 'write',
  person: true,
  summary: 'Sets what a submitter may spend per day (UTC), or removes the limit.',
  async run(context, { submitter, usd_per_day }) {
    await refuseBelowTurn(context)
    if (submitter !== '*') mustBeSubmitter(submitter)
    const { budgets } = fleetStore(context).fleet
    await budgets.set(submitter, usd_per_day)
    return { budgets: await budgets.list() }
  },
}
