/** Undoes the last rollback of a loop. */
import { undo as undoRollback } from '../drive/rollback.ts'
import { findLoop } from './find-loop.ts'
import type { Operation } from './operation.ts'
import { ownerOf } from './owners.ts'
import { mustNotBeInSession, type RolledBack } from './rollback.ts'

export const undo: Operation<{ loop: string }, RolledBack> = {
  name: 'undo',
  effect: 'write',
  summary: 'Undoes the last rollback of a loop, including one made when the loop halted.',
  async run(context, { loop: name }) {
    const id = await findLoop(context, name)
    await mustNotBeInSession(context, id)
    const loop = await context.store().load(id)
    const refusal = ownerOf(loop).refuses?.(loop, { kind: 'undo' })
    if (refusal) throw refusal
    return { loop: id, notes: await undoRollback({ ...context, store: context.store() }, id) }
  },
}
