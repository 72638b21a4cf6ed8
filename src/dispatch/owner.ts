/** An agent in a pane as the owner of its loop, and the rules for that. */
import type { OwnerRules } from '../drive/owner.ts'
import type { Loop } from '../engine/loop.ts'

/** `config`: the file that names the agent; `crew` is short for it. */
export type PaneOwner = { kind: 'pane'; crew: string; name: string; config: string }

export function paneOf({ id, spec }: Loop): PaneOwner {
  const { owner } = spec.work
  if (owner?.kind !== 'pane') throw new Error(`Loop ${id} is not worked on in a pane.`)
  return owner as PaneOwner // this folder alone makes owners of that kind
}

/** It is held only while something is done with it, so that whatever a person says to it meanwhile is carried out at once. */
export const paneRules: OwnerRules = {
  // The agent in the pane does, whether a dispatcher is there or not.
  takesTurns: () => false,
  again: (loop) => `Give the agent its next task: ralph dispatch ${paneOf(loop).name}: TASK`,
  hints(loop) {
    const { name } = paneOf(loop)
    return {
      worker: `the agent ${name} in its pane`,
      answer: `Answer and go on: ralph dispatch say ${name} "your answer"`,
    }
  },
}
