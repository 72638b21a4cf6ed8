/** Lists state changes of agents in panes, in order. */
import type { Change } from '../dispatch/crew.ts'
import { type CrewName, findCrew } from './crew-place.ts'
import type { Operation } from './operation.ts'

export type ListedChange = { seq: number; at: number; agent: string } & Change

/** `after`: the last known one. Returned in portions; continuing from the last `seq` misses none. */
export const listChanges: Operation<CrewName & { after?: number }, { changes: ListedChange[] }> = {
  name: 'list_changes',
  effect: 'read',
  summary: 'Lists state changes of the agents of a dispatcher, in order. Continue after the last `seq`.',
  async run(context, { after = 0, ...crew }) {
    const { id } = await findCrew(context, crew)
    const stored = await context.store().panes.changes(after, id)
    // Only the dispatcher writes them.
    return { changes: stored.map(({ seq, at, name, change }) => ({ seq, at, agent: name, ...(change as Change) })) }
  },
}
