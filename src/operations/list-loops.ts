/** The loops there are. */
import { isOver } from '../engine/loop.ts'
import type { ListFilter, LoopRow } from '../host/store.ts'
import { holderOf } from '../session/elsewhere.ts'
import type { Operation } from './operation.ts'

/** `alive`: somebody drives it. `session`: the agent's session that holds it. */
export type ListedLoop = LoopRow & { alive: boolean; session?: string }

export const listLoops: Operation<ListFilter, { loops: ListedLoop[]; next?: string }> = {
  name: 'list_loops',
  effect: 'read',
  summary: 'The loops on this machine, newest first, whatever front began them.',
  async run(context, filter) {
    const store = context.store()
    const { rows, next } = await store.list(filter)
    const loops = rows.map(async (row): Promise<ListedLoop> => {
      if (isOver(row.status)) return { ...row, alive: false }
      const session = holderOf(context.home, row.id)
      return { ...row, alive: await store.isDriven(row.id), ...(session === undefined ? {} : { session }) }
    })
    return { loops: await Promise.all(loops), ...(next === undefined ? {} : { next }) }
  },
}
