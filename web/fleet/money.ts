/** What submitters may spend. */
import type { Fleet } from './states.ts'

export type Budget = Fleet['budgets'][number]

/** Stands for every submitter without their own budget. */
export const EVERYONE = '*'

export function leftOf({ usd_per_day, spent_usd, reserved_usd }: Budget): number {
  return Math.max(0, usd_per_day - spent_usd - reserved_usd)
}
