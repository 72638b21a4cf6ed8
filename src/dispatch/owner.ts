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

function again(loop: Loop): string {
  return `Give the agent its next task: ralph dispatch ${paneOf(loop).name}: TASK`
}

/** It is held only while something is done with it, so that whatever a person says to it meanwhile is carried out at once. */
export const paneRules: OwnerRules = {
  // The agent in the pane does, whether a dispatcher is there or not.
  takesTurns: () => false,
  // A fork of it is no task of that agent any more.
  refuses: (loop, wish) =>
    wish.kind === 'retry' || wish.kind === 'extend'
      ? new RalphError('usage', `Loop ${loop.id} was worked on in a pane. ${again(loop)}`)
      : undefined,
  again,
  hints(loop) {
    const { name } = paneOf(loop)
    return {
      worker: `the agent ${name} in its pane`,
      answer: `Answer and go on: ralph dispatch say ${name} "your answer"`,
    }
  },
}
