/** What all loops together tell. */
import type { Totals } from '../host/store.ts'
import type { Operation } from './operation.ts'

export const stats: Operation<Record<string, never>, Totals> = {
  name: 'stats',
  effect: 'read',
  summary: 'Statistics over all loops: how they ended, false claims caught, iterations, cost, by agent.',
  run: ({ store }) => store().totals(),
}
