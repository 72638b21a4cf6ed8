/**
 * A loop that continues from a state of another one starts in its own linked worktree, with the files of that state.
 */
import { join } from 'node:path'
import type { Worktree } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { type Kept, listCheckpoints, NOW, readCheckpoint, refOf, setRefs, writeCheckpoint } from './checkpoint.ts'
import { pathBelow } from './files.ts'
import { must, type Repository } from './git.ts'
import { noCheckpoint } from './roll-back.ts'

/** A state of another loop. `head`: the commit it is based on. */
export type State = Kept & { head: string }

/** The state after iteration n of a loop, or its last known state. */
export async function readState(repo: Repository, loop: string, name: number | string): Promise<State> {
  const kept = await readCheckpoint(repo, refOf(loop, name))
  if (!kept) throw noCheckpoint({ repo, loop }, name, await listCheckpoints(repo, loop))
  const { head } = kept
  if (head !== undefined) return { ...kept, head }
  throw new RalphError(
    'usage',
    `${repo.top} had no commit yet at that point of loop ${loop}, and a worktree needs one. Make a first commit and start a new loop.`,
  )
}

/** `base`: the branch that its work will be merged into. */
type Planning = Pick<Worktree, 'from' | 'path' | 'branch' | 'copied' | 'setup'> & { base: string | undefined }

/** Creates nothing yet. */
export function planFork(
  repo: Repository,
  { tree, head }: State,
  { base, ...planned }: Planning,
): { worktree: Worktree; dir: string; tree: string } {
  return {
    tree: `${tree} ${head}`,
    worktree: { ...planned, commit: head, ...(base === undefined ? {} : { base }) },
    dir: join(planned.path, pathBelow(repo.top, planned.from) ?? ''),
  }
}

/**
 * Fills the worktree of a new loop when it is created. `origin`: what its proof is measured against is kept as long as
 * the loop.
 */
export async function plantState(
  repo: Repository,
  loop: string,
  { state, branch, origin }: { state: State; branch: string; origin: string | undefined },
): Promise<void> {
  const { tree, head, index } = state
  const commit = await writeCheckpoint(repo, {
    loop,
    name: NOW,
    tree,
    head,
    branch: `refs/heads/${branch}`,
    index,
    since: undefined,
    underWay: undefined,
    refs: new Map(),
  })
  must(await setRefs(repo, [refOf(loop, NOW)], commit))
  if (origin !== undefined) must(await setRefs(repo, [refOf(loop, ORIGIN)], origin))
}

const ORIGIN = 'origin'

/** The commit of what the proof of a loop is measured against. */
export async function originOf(repo: Repository, loop: string): Promise<string | undefined> {
  const kept = (await readCheckpoint(repo, refOf(loop, ORIGIN))) ?? (await readCheckpoint(repo, refOf(loop, 0)))
  return kept?.commit
}
