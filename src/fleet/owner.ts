/** The fleet as the owner of a loop, and the rules for that. */
import type { OwnerRules } from '../drive/owner.ts'
import type { Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { settleTask } from './settle.ts'

export type FleetOwner = { kind: 'fleet'; task: string; repo?: string; branch?: string }

export function fleetOf({ id, spec }: Pick<Loop, 'id' | 'spec'>): FleetOwner {
  const { owner } = spec.work
  if (owner?.kind !== 'fleet') throw new Error(`Loop ${id} is not one of the fleet.`)
  return owner as FleetOwner // this folder alone makes owners of that kind
}

export const fleetRules: OwnerRules = {
  // A worker does, wherever it is: nobody else can have lost one.
  takesTurns: () => false,
  hearsLater: ({ next }) =>
    next.kind === 'wait' && next.why !== 'queued' ? 'A worker continues it with that.' : undefined,
  again: ({ id }) => `Try it again: ralph retry ${id}`,
  refuses(loop, { kind }) {
    if (kind !== 'rollback' && kind !== 'accept' && kind !== 'fork') return undefined
    const { task, repo, branch } = fleetOf(loop)
    const where = repo && branch ? `Its work is on the branch ${branch} of ${repo}.` : 'Its files are on a worker.'
    return new RalphError('usage', `Loop ${loop.id} is the task ${task} of the fleet. ${where}`)
  },
  turn: (loop) => ({ env: { RALPH_TASK_ID: fleetOf(loop).task } }),
  after: async ({ store }, { loop }) => settleTask(store, loop),
  hints(loop) {
    const { task, repo, branch } = fleetOf(loop)
    return { merges: true, whose: `It is the task ${task} of the fleet${repo ? `, on ${branch} of ${repo}` : ''}.` }
  },
}
