/** An agent in a pane as the owner of its loop, and the rules for that. */
import type { OwnerRules } from '../drive/owner.ts'
import type { Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'

/** `config`: the file that names the agent; `crew` is short for it. */
export type PaneOwner = { kind: 'pane'; crew: string; name: string; config: string }

export function paneOf({ id, spec }: Loop): PaneOwner {
  const { owner } = spec.work
  if (owner?.kind !== 'pane') throw new Error(`Loop ${id} is not worked on in a pane.`)
  return owner as PaneOwner // this folder alone makes owners of that kind
}

export const paneRules: OwnerRules = {
  // The agent in the pane does, whether a dispatcher is there or not.
  takesTurns: () => false,
  again: (loop) => `Give the agent a task with \`ralph dispatch ${paneOf(loop).name}: TASK\`.`,
  hearsLater(loop) {
    const { name, config } = paneOf(loop)
    return `${name} hears it while this runs: ralph dispatch --config ${config}`
  },
  refuses(loop, { kind, ...wish }) {
    if (kind !== 'resume' || ('driven' in wish && wish.driven)) return undefined
    const { name, config } = paneOf(loop)
    return new RalphError(
      'usage',
      `Loop ${loop.id} is worked on by the agent ${name} in its pane. Go on with: ralph dispatch --config ${config}`,
    )
  },
  hints: (loop) => ({ worker: `the agent ${paneOf(loop).name} in its pane` }),
}
