/** Merges the work of a loop in its own worktree into the user's branch. */
import { type AcceptHow, accept as acceptLoop, isAccepted } from '../drive/accept.ts'
import { trustConfigs } from '../host/config-trust.ts'
import { given } from '../request/given.ts'
import { refuseBelowTurn } from './below-turn.ts'
import { findLoop } from './find-loop.ts'
import type { Operation } from './operation.ts'
import { ownerOf } from './owners.ts'
import { repairHere } from './repair-checkouts.ts'

/**
 * `base` is the branch it was merged into; without a merge, the work is on `branch`. `proof` is the value of the Ralph-Proof
 * trailer. `unchecked`: why the accepted files differ from the graded ones. `nothing`: no commit was needed.
 * `changes`: the loop's changes to git configuration and hooks, which were not run.
 */
export type Accepted = {
  loop: string
  branch: string
  base?: string
  proof?: string
  unchecked?: 'changed' | 'merged'
  nothing?: true
  changes?: string[]
}

/** `how`: default merge. */
export const accept: Operation<{ loop: string; how?: AcceptHow }, Accepted> = {
  name: 'accept',
  effect: 'write',
  summary:
    'Accepts the work of a loop in its own worktree: merges it, squashes it into one commit, or keeps the branch.',
  agent: { tool: 'accept_loop' },
  person: true,
  async run(context, { loop: name, how = 'merge' }) {
    await refuseBelowTurn(context)
    const id = await findLoop(context, name)
    const desk = { ...context, store: context.store() }
    const loop = await desk.store.load(id)
    const rules = ownerOf(loop)
    const refusal = rules.refuses?.(loop, { kind: 'accept' })
    if (refusal) throw refusal
    const { worktree: own } = loop.spec.work
    if (own) await repairHere(context, own.from)
    try {
      const { worktree, proof, unchecked, nothing, changes } = await acceptLoop(desk, id, how)
      trustConfigs(context.home, worktree.from, id) // accepting the work implies having seen it
      return {
        loop: id,
        branch: worktree.branch,
        ...given({ base: worktree.base, proof, unchecked, nothing, changes }),
      }
    } finally {
      // An earlier ralph may have been killed between the two.
      if (rules.accepted && (await isAccepted(loop))) await rules.accepted(desk, loop)
    }
  },
}
