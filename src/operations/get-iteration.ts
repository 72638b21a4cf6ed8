/** One iteration of a loop: what came of it, and what it changed. */
import { RalphError } from '../error.ts'
import { printDiff } from '../host/checkpoint.ts'
import { openRepository } from '../host/git.ts'
import type { IterationRow } from '../host/store.ts'
import { given } from '../request/given.ts'
import { findLoop } from './find-loop.ts'
import type { Operation } from './operation.ts'

/** `row` is absent while it is under way, `diff` where there is no checkpoint of it. */
export type FoundIteration = { loop: string; row?: IterationRow; diff?: string }

export const getIteration: Operation<{ loop: string; iteration: number }, FoundIteration> = {
  name: 'get_iteration',
  effect: 'read',
  summary: 'Shows an iteration of a loop: how it ended, what the checks said, and what it changed, as a diff.',
  async run(context, { loop: name, iteration }) {
    const store = context.store()
    const id = await findLoop(context, name)
    const row = (await store.iterations(id)).find(({ n }) => n === iteration)
    const { next: read } = await store.transcripts.read(id, iteration, 0)
    if (!row && read === 0)
      throw new RalphError('loop-unknown', `Loop ${id} has no iteration ${iteration}. \`ralph show ${id}\` lists them.`)
    const { dir, worktree } = (await store.load(id)).spec.work
    const repo = await openRepository(worktree?.from ?? dir)
    const diff = 'none' in repo ? undefined : await printDiff(repo, id, iteration)
    return { loop: id, ...(row ? { row } : {}), ...given({ diff }) }
  },
}
