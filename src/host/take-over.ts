/** Another machine goes on with a task: its work tree is as the last iteration that was pushed and recorded left it. */

import { join } from 'node:path'
import type { Worktree } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { type Kept, NOW, readCheckpoint, refOf, setRefs } from './checkpoint.ts'
import type { Fenced } from './fence.ts'
import { makePrivateFolder, realFolder, writeWhole } from './files.ts'
import { marksFile } from './fingerprint.ts'
import { must, type Repository } from './git.ts'
import { askRemote, type Calling, type Trouble } from './remote-call.ts'
import { readRemote } from './remote-refs.ts'
import { openRepoCache } from './repo-cache.ts'
import { bringUpToDate } from './roll-back.ts'
import { takeFence } from './take-fence.ts'
import { headOf, marksRef, mustBeOurs, numberIn, type TaskPlace } from './task-names.ts'
import { layOut, type OpenTask, openTaskTree } from './task-tree.ts'
import { openTree } from './tree.ts'

/**
 * What the store knows of the loop: `pushed` is the commit that was pushed last, `iteration` and `tree` are of its tally, and
 * `worktree` is where it worked until now.
 */
export type TakingOver = TaskPlace &
  Calling & {
    epoch: number
    pushed?: string | undefined
    iteration: number
    tree?: string | undefined
    worktree: Worktree
  }

/** Nobody else can push for the task from here on. Before the first push it begins again where it began. */
export async function takeOverTask(taking: TakingOver): Promise<OpenTask | Fenced | Trouble> {
  mustBeOurs(taking)
  const { home, repo, pushed } = taking
  const mirror = await openRepoCache(home).open(repo)
  const found = pushed === undefined ? { checkpoints: [] } : await fetchCheckpoints(mirror, taking)
  if ('kind' in found) return found
  const at = choose(found.checkpoints, taking)
  const taken = await takeFence({ ...taking, kept: Math.max(at?.n ?? 0, taking.iteration) })
  if (taken.kind !== 'taken') return taken
  const { base = '', commit, copied, setup } = taking.worktree
  const asked = { ...(copied ? { copied } : {}), ...(setup === undefined ? {} : { setup }) }
  const opening = { ...taking, ...asked, base }
  if (!at) return openTaskTree({ ...opening, at: pushed ?? commit })
  return openRepoCache(home).alone(
    repo,
    async ({ mirror: held }) => {
      const first = (await hasObject(held, commit)) ? commit : (at.kept.head ?? at.kept.commit)
      const kept = found.checkpoints.filter(({ n }) => n <= at.n)
      const open = await layOut(held, opening, first, (worktree) =>
        fill(held, { ...taking, worktree }, { kept, at, marks: found.marks }),
      )
      return { ...open, tree: stateOf(at.kept) }
    },
    taking.signal,
  )
}

type Numbered = { n: number; kept: Kept }
type Found = { checkpoints: Numbered[]; marks?: string | undefined }

/** Nothing points to them here until the work tree is laid out. */
async function fetchCheckpoints(mirror: Repository, taking: TakingOver): Promise<Found | Trouble> {
  const { repo, loop, branch } = taking
  const remote = await readRemote(mirror, taking)
  if (remote.kind !== 'read') return remote
  const numbers = [...remote.refs].flatMap(([ref, commit]) => {
    const n = numberIn(loop, ref)
    return n === undefined ? [] : [{ ref, commit, n }]
  })
  const wanted = [headOf(branch), marksRef(loop)].filter((ref) => remote.refs.has(ref))
  const refs = [...wanted, ...numbers.map(({ ref }) => ref)]
  if (refs.length === 0) return { checkpoints: [] }
  const fetched = await askRemote(mirror, [...FETCH, '--', repo, ...refs], taking)
  if (!fetched.ok) return fetched.trouble
  const checkpoints: Numbered[] = []
  for (const { n, commit } of numbers) {
    const kept = await readCheckpoint(mirror, commit)
    if (kept) checkpoints.push({ n, kept })
  }
  return { checkpoints, marks: remote.refs.get(marksRef(loop)) }
}

const FETCH = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules']

/** The state that the loop was last seen in. Where checks wrote files after that, the last one before. */
function choose(checkpoints: readonly Numbered[], { tree, iteration }: TakingOver): Numbered | undefined {
  const latest = checkpoints.toSorted((a, b) => b.n - a.n)
  const same = latest.find(({ kept }) => tree?.startsWith(stateOf(kept)))
  return same ?? latest.find(({ n }) => n <= iteration)
}

/** As a tree tells it. */
function stateOf({ tree, head }: Kept): string {
  return `${tree} ${head ?? 'no-commit'}`
}

async function hasObject(mirror: Repository, commit: string): Promise<boolean> {
  return (await mirror.ask(['cat-file', '-e', `${commit}^{commit}`])).ok
}

type Filling = { kept: readonly Numbered[]; at: Numbered; marks: string | undefined }

/** Noted where ralph looks for them, so that files, HEAD and index become what they were. */
async function fill(
  mirror: Repository,
  { home, loop, worktree }: TakingOver,
  { kept, at, marks }: Filling,
): Promise<void> {
  const { checkpoints } = await openTree({ dir: worktree.path, home, loop, worktree, anew: true })
  if ('none' in checkpoints)
    throw new RalphError('git-failed', `The work tree ${worktree.path} cannot be used: ${checkpoints.none}.`)
  for (const { n, kept: one } of [...kept, { n: NOW, kept: at.kept }])
    must(await setRefs(checkpoints.repo, [refOf(loop, n)], one.commit))
  if (marks !== undefined) {
    makePrivateFolder(join(realFolder(home), 'proof'))
    writeWhole(marksFile(home, loop), await mirror.read(`${marks}:marks.json`))
  }
  await bringUpToDate(checkpoints.restoring)
}
