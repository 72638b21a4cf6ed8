/** The fleet as the owner of a loop, with its rules. */
import type { OwnerRules, Wish } from '../drive/owner.ts'
import type { Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { printCommandLine } from '../formats/command-line.ts'
import { settleTask } from './settle.ts'

export type FleetOwner = { kind: 'fleet'; task: string; repo?: string; branch?: string }

export function fleetOf({ id, spec }: Pick<Loop, 'id' | 'spec'>): FleetOwner {
  const { owner } = spec.work
  if (owner?.kind !== 'fleet') throw new Error(`Loop ${id} does not belong to the fleet.`)
  return owner as FleetOwner // only this folder creates owners of that kind
}

const NEEDS_FILES: readonly Wish['kind'][] = ['rollback', 'undo', 'accept', 'fork', 'prove']

/** Where the work of a task is, and how to get it. */
export function whereabouts(loop: Loop): string {
  const { repo, branch } = fleetOf(loop)
  if (!repo || !branch) return 'It has no repository: its files exist only on the worker and are not kept.'
  if (loop.tally.iteration === 0) return `Its work will be on branch ${branch} of ${repo}.`
  return `Its work is on branch ${branch} of ${repo}. Fetch it: ${printCommandLine(['git', 'fetch', repo, branch])}`
}

export const fleetRules: OwnerRules = {
  // A worker takes them, wherever it is: no other process can have lost one.
  takesTurns: () => false,
  receivesLater: ({ next }) =>
    next.kind === 'wait' && next.why !== 'queued' ? 'A worker will continue it.' : undefined,
  again: ({ id, next }) =>
    next.kind === 'complete' ? 'Submit another task: ralph submit "…"' : `Retry it: ralph retry ${id}`,
  refuses(loop, { kind }) {
    if (!NEEDS_FILES.includes(kind)) return undefined
    return new RalphError(
      'usage',
      `This is not available for loop ${loop.id}, which is fleet task ${fleetOf(loop).task}. ${whereabouts(loop)}`,
    )
  },
  turn: (loop) => ({ env: { RALPH_TASK_ID: fleetOf(loop).task } }),
  after: async ({ store }, { loop }) => settleTask(store, loop),
  hints(loop) {
    const { task, repo, branch } = fleetOf(loop)
    return { merges: true, whose: `It is fleet task ${task}${repo ? `, on branch ${branch} of ${repo}` : ''}.` }
  },
}
