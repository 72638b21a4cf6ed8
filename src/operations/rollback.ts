/** Rolls the files of a loop back to their state after one of its iterations. */
import { rollback as rollBack } from '../drive/rollback.ts'
import { RalphError } from '../error.ts'
import { holderOf } from '../session/elsewhere.ts'
import { findLoop } from './find-loop.ts'
import type { Context, Operation } from './operation.ts'
import { ownerOf } from './owners.ts'

export type RolledBack = { loop: string; notes: string[] }

export const rollback: Operation<{ loop: string; iteration: number }, RolledBack> = {
  name: 'rollback',
  effect: 'destroy',
  summary: 'Restores files, HEAD and index to their state after an iteration; 0 is the start. Can be undone.',
  agent: { tool: 'rollback_loop', idempotent: true },
  async run(context, { loop: name, iteration }) {
    const id = await findLoop(context, name)
    await mustNotBeInSession(context, id)
    const loop = await context.store().load(id)
    const refusal = ownerOf(loop).refuses?.(loop, { kind: 'rollback' })
    if (refusal) throw refusal
    return { loop: id, notes: await rollBack({ ...context, store: context.store() }, id, iteration) }
  },
}

/** Its agent would claim work that no longer exists. */
export async function mustNotBeInSession(context: Context, id: string): Promise<void> {
  const holder = holderOf(context.home, id)
  if (holder !== undefined && (await context.store().load(id)).next.kind === 'turn')
    throw new RalphError('loop-held', `Loop ${id} is running in ${holder}. Pause it first: ralph pause ${id}`)
}
