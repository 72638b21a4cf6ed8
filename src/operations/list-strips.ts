/** Lists the last iterations of several loops in brief, for a page that shows many loops. */
import type { Strip } from '../host/store.ts'
import type { Operation } from './operation.ts'

/** `loops`: full ids. `most`: iterations per loop. */
export type ListingStrips = { loops: string[]; most?: number }

const USUAL = 24

export const listStrips: Operation<ListingStrips, { strips: Strip[] }> = {
  name: 'list_strips',
  effect: 'read',
  summary: 'Lists the last iterations of several loops in brief: check results and refused claims.',
  run: async (context, { loops, most = USUAL }) => ({ strips: await context.store().strips(loops, most) }),
}
