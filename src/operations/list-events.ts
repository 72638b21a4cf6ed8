/** Lists the events of loops, in order. */
import type { StoredEvent } from '../host/store.ts'
import { findLoop } from './find-loop.ts'
import type { Operation } from './operation.ts'

/** `after`: the last known one. Continuing from the last `seq` misses none. */
export const listEvents: Operation<{ loop?: string; after?: number }, { events: StoredEvent[] }> = {
  name: 'list_events',
  effect: 'read',
  summary: 'Lists the events of a loop, or of all loops, in order. Continue after the last `seq`.',
  async run(context, { loop, after = 0 }) {
    const id = loop === undefined ? undefined : await findLoop(context, loop)
    return { events: await context.store().events(after, id) }
  },
}
