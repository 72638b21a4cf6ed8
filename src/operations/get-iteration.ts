/** Shows an iteration of a loop: its prompt, its outcome, and what it changed. */
import { RalphError } from '../error.ts'
import { printDiff as printChange } from '../formats/unified-diff.ts'
import type { Store } from '../host/store.ts'
import { readTurnLog } from '../host/transcript.ts'
import { given } from '../request/given.ts'
import { changesOf } from './changes-of.ts'
import { findLoop } from './find-loop.ts'
import { shown } from './get-diff.ts'
import { type Iteration, viewIterations } from './iteration-view.ts'
import type { Operation } from './operation.ts'

/**
 * `row` is absent while it is running, `diff` without a checkpoint, `prompt` once transcripts were pruned.
 * `note`: the diff was cut. `promptChange`: the diff to the previous prompt. `head`: the commit that was
 * checked out at its end. `command`: how the agent was started.
 */
export type FoundIteration = {
  loop: string
  row?: Iteration
  prompt?: string
  promptChange?: string
  command?: string[]
  head?: string
  diff?: string
  note?: string
}

export const getIteration: Operation<{ loop: string; iteration: number }, FoundIteration> = {
  name: 'get_iteration',
  effect: 'read',
  summary: 'Shows an iteration of a loop: its prompt, how it ended, the check results, and its diff.',
  agent: {},
  report: true,
  async run(context, { loop: name, iteration }) {
    const store = context.store()
    const loop = await store.load(await findLoop(context, name))
    const rows = await store.iterations(loop.id, { after: iteration - 1, limit: 1 })
    const [row] = await viewIterations(
      store,
      loop,
      rows.filter(({ n }) => n === iteration),
    )
    const begun = await firstOf(store, loop.id, iteration)
    if (!row && !begun) throw noIteration(loop.id, iteration)
    const changes = await changesOf(store, loop)
    const [head, change] = [await changes.head(iteration), await changes.diff(iteration, 'previous')]
    const before = iteration > 1 ? await firstOf(store, loop.id, iteration - 1) : undefined
    const promptChange = begun && before ? printChange(before.prompt, begun.prompt).join('\n') : undefined
    const { text: diff, note } = change === undefined ? {} : shown(loop, change)
    return {
      loop: loop.id,
      ...given({ row, prompt: begun?.prompt, promptChange, command: begun?.command, head, diff, note }),
    }
  },
}

export function noIteration(loop: string, iteration: number): RalphError {
  return new RalphError(
    'loop-unknown',
    `Loop ${loop} has no iteration ${iteration}. \`ralph show ${loop}\` lists all iterations.`,
  )
}

/** The start of its first attempt; every attempt gets the same prompt. */
async function firstOf(
  { transcripts }: Store,
  loop: string,
  iteration: number,
): Promise<{ prompt: string; command: string[] } | undefined> {
  for await (const entry of readTurnLog(transcripts, loop, iteration)) if ('prompt' in entry) return entry
  return undefined
}
