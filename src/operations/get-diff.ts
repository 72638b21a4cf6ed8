/** What an iteration changed, or the loop up to there: as text, and line by line. */
import { RalphError } from '../error.ts'
import { type DiffFile, parseDiff } from '../formats/parse-diff.ts'
import { printDiff, readCheckpoint, refOf } from '../host/checkpoint.ts'
import { given } from '../request/given.ts'
import { findLoop } from './find-loop.ts'
import { repositoryOf } from './iteration-view.ts'
import type { Operation } from './operation.ts'

/** `against`: the state before this iteration, or before the loop. `path`: one file alone. `limit`: so many characters. */
export type AskingDiff = {
  loop: string
  iteration: number
  against?: 'previous' | 'start'
  path?: string
  limit?: number
}

/** `from` and `to` are the commits of the checkpoints. `note`: it was cut. */
export type FoundDiff = {
  loop: string
  iteration: number
  against: 'previous' | 'start'
  from: string
  to: string
  text: string
  files: DiffFile[]
  note?: string
}

export const getDiff: Operation<AskingDiff, FoundDiff> = {
  name: 'get_diff',
  effect: 'read',
  summary: 'Shows what an iteration changed, or the whole loop up to it, as a unified diff and line by line.',
  agent: {},
  report: true,
  async run(context, { loop: name, iteration, against = 'previous', path, limit }) {
    const loop = await context.store().load(await findLoop(context, name))
    const repo = await repositoryOf(loop)
    const kept = repo && (await readCheckpoint(repo, refOf(loop.id, iteration)))
    const start = repo && against === 'start' ? await readCheckpoint(repo, refOf(loop.id, 0)) : undefined
    const from = against === 'start' ? start?.commit : kept?.since
    const whole = repo && kept && from ? await printDiff(repo, { from, to: kept.commit, path }) : undefined
    if (whole === undefined || !kept || !from) throw noDiff(loop.id, iteration)
    const { text, note } = bounded(whole, limit)
    const files = parseDiff(text)
    return { loop: loop.id, iteration, against, from, to: kept.commit, text, files, ...given({ note }) }
  },
}

const SHOWN = 200_000

/** Whole lines of a diff, as many as there is room for. */
export function bounded(diff: string, limit: number = SHOWN): { text: string; note?: string } {
  if (diff.length <= limit) return { text: diff }
  const text = diff.slice(0, diff.lastIndexOf('\n', limit - 1) + 1)
  const lines = diff.slice(text.length).split('\n').length
  return { text, note: `${lines} more lines are not shown. Name a path to see one file, or raise the limit.` }
}

function noDiff(loop: string, iteration: number): RalphError {
  return new RalphError(
    'checkpoint-missing',
    `Loop ${loop} has no checkpoint of iteration ${iteration}: there is no such iteration, the folder is not a git repository, or it was pruned.`,
  )
}
