/** Makes the work of a loop in its own work tree part of the person's branch. */
import { accept as acceptLoop } from '../drive/rollback.ts'
import { given } from '../request/given.ts'
import { refuseBelowTurn } from './below-turn.ts'
import { findLoop } from './find-loop.ts'
import type { Operation } from './operation.ts'
import { ownerOf } from './owners.ts'

/**
 * `base` is the branch that it was merged into; without a merge the work is on `branch`. `proof` is what the trailer Ralph-Proof
 * says. `unchecked`: why the accepted files are not the ones that the loop was graded for.
 */
export type Accepted = {
  loop: string
  branch: string
  base?: string
  proof?: string
  unchecked?: 'changed' | 'merged'
}

export const accept: Operation<{ loop: string; merge: boolean }, Accepted> = {
  name: 'accept',
  effect: 'write',
  summary:
    'Merges the work of a loop that ran in its own worktree into your branch, or keeps it on a branch of its own.',
  async run(context, { loop: name, merge }) {
    await refuseBelowTurn(context)
    const id = await findLoop(context, name)
    const loop = await context.store().load(id)
    const refusal = ownerOf(loop).refuses?.(loop, { kind: 'accept' })
    if (refusal) throw refusal
    const { worktree, proof, unchecked } = await acceptLoop({ ...context, store: context.store() }, id, { merge })
    return { loop: id, branch: worktree.branch, ...given({ base: worktree.base, proof, unchecked }) }
  },
}
