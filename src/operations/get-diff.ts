/** Shows what an iteration, or the loop up to it, changed: as text and line by line. */
import { count } from '../engine/limits.ts'
import type { Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { whereabouts } from '../fleet/owner.ts'
import { cutDiff } from '../formats/cut-diff.ts'
import { type DiffFile, parseDiff } from '../formats/parse-diff.ts'
import type { Against } from '../host/store.ts'
import { given } from '../request/given.ts'
import { type ChangedText, changesOf } from './changes-of.ts'
import { findLoop } from './find-loop.ts'
import type { Operation } from './operation.ts'

/** `against`: the state before this iteration, or before the loop. `path`: only this file. `limit`: in characters. */
export type AskingDiff = {
  loop: string
  iteration: number
  against?: Against
  path?: string
  limit?: number
}

/** `from` and `to` are the commits of the checkpoints; of a fleet task, the pushed ones. `note`: it was cut. */
export type FoundDiff = {
  loop: string
  iteration: number
  against: Against
  from: string
  to: string
  text: string
  files: DiffFile[]
  note?: string
}

export const getDiff: Operation<AskingDiff, FoundDiff> = {
  name: 'get_diff',
  effect: 'read',
  summary: 'Shows what an iteration, or the loop up to it, changed: as a unified diff and line by line.',
  agent: {},
  report: true,
  async run(context, { loop: name, iteration, against = 'previous', path, limit }) {
    const store = context.store()
    const loop = await store.load(await findLoop(context, name))
    const change = await (await changesOf(store, loop)).diff(iteration, against, path)
    if (!change) throw noDiff(loop, iteration)
    const { text, note } = shown(loop, change, limit)
    const { from, to } = change
    return { loop: loop.id, iteration, against, from, to, text, files: parseDiff(text), ...given({ note }) }
  },
}

const SHOWN = 200_000

/** As much of a diff as fits, and how to get the rest. */
export function shown(loop: Loop, change: ChangedText, limit: number = SHOWN): { text: string; note?: string } {
  const { text, left } = cutDiff(change.text, limit)
  const notes = [
    ...(left > 0 ? [`${left} more lines are not shown. Give a path to see one file, or raise the limit.`] : []),
    ...(change.left > 0
      ? [
          `${count(change.left, 'line')} of long files ${change.left === 1 ? 'was' : 'were'} not stored. ${whereabouts(loop)}`,
        ]
      : []),
  ]
  return { text, ...(notes.length > 0 ? { note: notes.join(' ') } : {}) }
}

function noDiff(loop: Loop, iteration: number): RalphError {
  const { id, spec } = loop
  if (spec.work.owner?.kind === 'fleet')
    return new RalphError(
      'checkpoint-missing',
      `Loop ${id} has no diff of iteration ${iteration}: the iteration does not exist, the task has no repository, or the diff was pruned. ${whereabouts(loop)}`,
    )
  return new RalphError(
    'checkpoint-missing',
    `Loop ${id} has no checkpoint of iteration ${iteration}: the iteration does not exist, the folder is not a git repository, or the checkpoint was pruned.`,
  )
}
