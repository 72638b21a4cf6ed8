/**
 * What an iteration of a task changed, stored for those who do not have its repository: bounded, and without secrets.
 */
import { cutFiles } from '../formats/cut-diff.ts'
import { type Kept, printDiff, readCheckpoint } from './checkpoint.ts'
import type { Repository } from './git.ts'
import { openRepoCache } from './repo-cache.ts'
import type { KeptDiff, KeptState } from './store.ts'
import type { TaskPlace } from './task-names.ts'
import { findCheckpoint } from './task-push.ts'

/**
 * `commit`: what was pushed for this iteration, `before`: for the previous one. `mask`: removes the secrets line by
 * line.
 */
export type ReadingDiff = TaskPlace & {
  iteration: number
  commit: string
  before?: string | undefined
  mask: (line: string) => string
  limit?: number
}

export type ReadDiff = KeptState & { previous?: KeptDiff; start?: KeptDiff }

/** How many characters of each diff are stored. */
const LIMIT = 1 << 20

/** The diffs of the iteration; with the first iteration, also those of the start. */
export async function readTaskDiffs(reading: ReadingDiff): Promise<ReadDiff[]> {
  const { home, repo, loop, iteration, commit, before } = reading
  const mirror = await openRepoCache(home).open(repo)
  const [zero, kept] = await Promise.all([0, iteration].map((n) => checkpointIn(mirror, { home, loop }, n)))
  if (!kept) return []
  const state = stateOf(iteration, kept, commit)
  if (iteration === 0) return [state]
  const named = (of: string) => commitLike(mirror, of, [before, zero?.head])
  const diff = async (from: string | undefined): Promise<KeptDiff | undefined> => {
    const text = from === undefined ? undefined : await printDiff(mirror, { from, to: kept.commit })
    return from === undefined || text === undefined ? undefined : { from: await named(from), ...fitting(text, reading) }
  }
  const previous = await diff(kept.since)
  const start = zero?.commit === kept.since ? previous : await diff(zero?.commit)
  const own = { ...state, ...(previous ? { previous } : {}), ...(start ? { start } : {}) }
  const origin = zero && iteration === 1 ? await named(zero.commit) : undefined
  return zero && origin !== undefined && origin !== zero.commit ? [stateOf(0, zero, origin), own] : [own]
}

async function checkpointIn(
  mirror: Repository,
  place: Pick<TaskPlace, 'home' | 'loop'>,
  n: number,
): Promise<Kept | undefined> {
  const commit = await findCheckpoint(mirror, place, n)
  return commit === undefined ? undefined : readCheckpoint(mirror, commit)
}

function stateOf(iteration: number, { tree, head }: Kept, commit: string): KeptState {
  return { iteration, commit, tree, ...(head === undefined ? {} : { head }) }
}

/** A commit with the same files that others can fetch, if there is one: checkpoints are removed when a task ends. */
async function commitLike(
  mirror: Repository,
  checkpoint: string,
  candidates: readonly (string | undefined)[],
): Promise<string> {
  const treeOf = async (commit: string) => {
    const found = await mirror.ask(['rev-parse', '--verify', '--quiet', `${commit}^{tree}`])
    return found.ok ? found.out : undefined
  }
  const tree = await treeOf(checkpoint)
  for (const commit of candidates) if (commit !== undefined && (await treeOf(commit)) === tree) return commit
  return checkpoint
}

/** A line stays a line, so that line numbers stay correct. */
function fitting(diff: string, { mask, limit = LIMIT }: ReadingDiff): Pick<KeptDiff, 'text' | 'left'> {
  const { text, left } = cutFiles(diff, limit)
  return { text: text.split('\n').map(mask).join('\n'), left }
}
