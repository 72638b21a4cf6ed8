/** Shows this machine at a glance. */
import type { Overview } from '../host/store.ts'
import { findNeeds } from './find-needs.ts'
import type { Operation } from './operation.ts'

/** `needsYou`: loops that need a person; `unread`: those with news. `todayUsd`: cost of iterations since midnight. */
export type FoundOverview = Omit<Overview, 'costUsd'> & {
  loops: number
  needsYou: number
  unread: number
  todayUsd: number
}

export const getOverview: Operation<Record<string, never>, FoundOverview> = {
  name: 'get_overview',
  effect: 'read',
  summary: "Counts loops and tasks by status and the loops that need you; lists folders and today's cost.",
  async run(context) {
    const { byStatus, tasks, folders, costUsd } = await context.store().overview(midnight(context.now()))
    const needs = await findNeeds(context)
    return {
      loops: Object.values(byStatus).reduce((sum, loops) => sum + loops, 0),
      byStatus,
      tasks,
      folders,
      needsYou: needs.length,
      unread: needs.filter(({ unread }) => unread).length,
      todayUsd: costUsd,
    }
  },
}

/** In local time. */
function midnight(now: number): number {
  return new Date(now).setHours(0, 0, 0, 0)
}
