/** The iterations of a loop, in order, a page at a time. */
import { given } from '../request/given.ts'
import { findLoop } from './find-loop.ts'
import { type Iteration, viewIterations } from './iteration-view.ts'
import type { Operation } from './operation.ts'

/** `after`: the number of the last one that is known. */
export type ListingIterations = { loop: string; after?: number; limit?: number }

/** `next` is there when more follow. */
export type ListedIterations = { loop: string; iterations: Iteration[]; next?: number }

export const listIterations: Operation<ListingIterations, ListedIterations> = {
  name: 'list_iterations',
  effect: 'read',
  summary:
    'Lists the iterations of a loop: how each ended, what it claimed, what the checks said, tokens, cost, commit.',
  agent: {},
  report: true,
  async run(context, { loop: name, after = 0, limit = 100 }) {
    const store = context.store()
    const loop = await store.load(await findLoop(context, name))
    const rows = await store.iterations(loop.id, { after, limit: limit + 1 }) // one more tells whether there is another page
    const page = rows.slice(0, limit)
    const next = rows.length > limit ? page.at(-1)?.n : undefined
    const iterations = await viewIterations(store, loop, page)
    return { loop: loop.id, iterations: iterations.map(inShort), ...given({ next }) }
  },
}

const WORDS_SHOWN = 1_000

/** The end of long texts; an iteration by itself has all of them. */
function inShort(iteration: Iteration): Iteration {
  return {
    ...iteration,
    words: iteration.words.slice(-WORDS_SHOWN),
    verdicts: iteration.verdicts.map((verdict) => ({ ...verdict, tail: verdict.tail.slice(-WORDS_SHOWN) })),
  }
}
