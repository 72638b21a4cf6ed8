/** Marks the events of a loop as seen. */
import { findLoop } from './find-loop.ts'
import type { Operation } from './operation.ts'

/** `n`: the number of the last event seen. */
export type Seen = { loop: string; n: number }

export const markSeen: Operation<Seen, Seen> = {
  name: 'mark_seen',
  effect: 'write',
  summary: 'Marks the events of a loop as seen, up to a given one.',
  async run(context, { loop: name, n }) {
    const loop = await findLoop(context, name)
    return { loop, n: await context.store().seen.mark(loop, n) }
  },
}
