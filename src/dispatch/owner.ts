/** An agent in a pane as the owner of its loop, and the rules for that. */
import type { OwnerRules } from '../drive/owner.ts'
import type { Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'

/** `config`: the file that names the agent; `crew` is short for it. */
export type PaneOwner = { kind: 'pane'; crew: string; name: string; config: string }

export function paneOf({ id, spec }: Loop): PaneOwner {
  const { owner } = spec.work
  if (owner?.kind !== 'pane') throw new Error(`Loop ${id} does not run in a pane.`)
  return owner as PaneOwner // only this folder creates owners of that kind
}

function again(loop: Loop): string {
  return `Give the agent its next task: ralph dispatch ${paneOf(loop).name}: TASK`
}

/** It is held only while something happens to it, so that orders from the user are carried out at once. */
export const paneRules: OwnerRules = {
  // The agent in the pane does, with or without a dispatcher.
  takesTurns: () => false,
  // A fork of it is no longer a task of that agent.
  refuses: (loop, wish) =>
    wish.kind === 'retry' || wish.kind === 'extend'
      ? new RalphError('usage', `Loop ${loop.id} ran in a pane. ${again(loop)}`)
      : undefined,
  again,
  hints(loop) {
    const { name } = paneOf(loop)
    return {
      worker: `the agent ${name} in its pane`,
      answer: `Answer to continue: ralph dispatch say ${name} "your answer"`,
    }
  },
}
