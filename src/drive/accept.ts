/** Merges the work of a loop from its own worktree into the user's branch, or leaves it on a branch. */
import { ended, type Loop, type Worktree } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { clearLocks } from '../host/checkout-locks.ts'
import { listCheckpoints, refOf, setRefs } from '../host/checkpoint.ts'
import { must } from '../host/git.ts'
import { holding } from '../host/git-site.ts'
import { hasArrived } from '../host/merge.ts'
import { mergeBranch } from '../host/merge-branch.ts'
import { commitsFile, openPins } from '../host/pin.ts'
import { squashBranch } from '../host/squash.ts'
import { treeIn } from '../host/tree.ts'
import { leaveTrials } from '../host/trial.ts'
import {
  commitRest,
  gatherOnBranch,
  hasMoved,
  headTree,
  refuseHidden,
  refuseLostCommits,
  removeWorktree,
  repositoryOf,
  reword,
  stagedTree,
} from '../host/worktree.ts'
import { commitMessage, isProven, mergeMessage, proofTrailer } from './accept-message.ts'
import { alone, checkpointsOf, type Desk } from './rollback.ts'

/**
 * `merge`: with its history. `squash`: as one commit. `branch`: not merged; it stays on its branch, ready for a pull
 * request.
 */
export type AcceptHow = 'merge' | 'squash' | 'branch'

/**
 * `proof`: what the trailer says. `unchecked`: why the accepted files are not those the loop was graded for: somebody
 * or a hook changed them, or the branch had moved on. `nothing`: the user's branch already has all of it, so no commit
 * was made. `changes`: differences in git's configuration and hooks, as sentences; new hooks and settings were not
 * used.
 */
export type Accepted = {
  worktree: Worktree
  proof?: string
  unchecked?: 'changed' | 'merged'
  nothing?: true
  changes?: string[]
}

export async function accept(desk: Desk, id: string, how: AcceptHow): Promise<Accepted> {
  return alone(desk, id, async (loop) => {
    const worktree = mustBeAcceptable(loop)
    await checkpointsOf(desk, loop) // a worktree that was removed by hand is recreated
    const { sites, changes } = await openPins(desk.home, id)
    const accepted = await holding(sites, () => takeOver(desk, loop, { worktree, how }))
    return changes.length > 0 ? { ...accepted, changes } : accepted
  })
}

/**
 * Accepts with the repository settings as the user has them; if the loop changed its configuration or hooks, with the old
 * configuration and no hooks.
 */
async function takeOver(
  { home }: Desk,
  loop: Loop,
  { worktree, how }: { worktree: Worktree; how: AcceptHow },
): Promise<Accepted> {
  const { id } = loop
  await leaveTrials(worktree, id)
  await clearLocks(await repositoryOf(worktree.path), worktree.branch) // left by a git whose ralph was killed
  await refuseHidden(worktree)
  const { tree, committed } = await commitWork(loop, worktree)
  await refuseLostCommits(worktree)
  await gatherOnBranch(worktree)
  const arrives = how !== 'branch'
  const held = await bring(loop, worktree, { how, tree, committed, home })
  const repo = { ...(await repositoryOf(worktree.from)), commits: commitsFile(home, id) }
  const tip = must(await repo.ask(['rev-parse', '--verify', `refs/heads/${worktree.branch}`]))
  must(await setRefs(repo, [refOf(id, arrives ? 'merged' : 'branched')], tip))
  await removeWorktree(worktree, arrives)
  if (!held) return { worktree, nothing: true }
  const proof = committed || arrives ? proofTrailer(loop, held) : undefined
  const unchecked = !isProven(loop, held.tree) ? 'changed' : held.merged ? 'merged' : undefined
  return { worktree, ...(proof === undefined ? {} : { proof }), ...(unchecked ? { unchecked } : {}) }
}

function mustBeAcceptable(loop: Loop): Worktree {
  const { id, spec } = loop
  if (!spec.work.worktree)
    throw new RalphError(
      'loop-state',
      `Loop ${id} worked directly in ${spec.work.dir}, so there is nothing to accept. \`ralph rollback ${id} 0\` would undo its work.`,
    )
  if (ended(loop)) return spec.work.worktree
  throw new RalphError(
    'loop-state',
    `Loop ${id} has not ended. Resume it with \`ralph resume ${id}\`, or end it with \`ralph cancel ${id}\`.`,
  )
}

/** Commits what is left; the message describes the files as hooks left them. */
async function commitWork(loop: Loop, worktree: Worktree): Promise<{ tree: string; committed: boolean }> {
  const committed = await commitRest(worktree, commitMessage(loop, { tree: await stagedTree(worktree) }))
  const tree = await headTree(worktree.path)
  const proven = commitMessage(loop, { tree: treeIn(loop.tally.tree ?? '') })
  // Even if an earlier attempt was killed before it could.
  if (!isProven(loop, tree)) await reword(worktree.path, proven, commitMessage(loop, { tree }))
  return { tree, committed }
}

type Held = { tree: string; merged: boolean }

type Bringing = { how: AcceptHow; tree: string; committed: boolean; home: string }

/**
 * Moves the work to where the user wants it. Returns what they have then; undefined: their branch already had all of
 * it.
 */
async function bring(loop: Loop, worktree: Worktree, { how, ...bringing }: Bringing): Promise<Held | undefined> {
  const { tree } = bringing
  if (how === 'squash') return squash(loop, worktree, bringing)
  if (how === 'branch') return { tree, merged: false }
  return { tree, merged: await merge(loop, worktree, bringing) }
}

/** Whether other work was merged along. The trailers are in a commit of ralph's own, never in the agent's. */
async function merge(loop: Loop, worktree: Worktree, bringing: Omit<Bringing, 'how'>): Promise<boolean> {
  const { tree, committed, home } = bringing
  const { top } = await repositoryOf(worktree.from)
  // A killed ralph may have merged it already: then the branch decides.
  const merged = (await hasArrived(worktree)) ? (await headTree(top)) !== tree : await hasMoved(worktree)
  const message = (moved: boolean) => mergeMessage(loop, worktree, { tree, merged: moved })
  await mergeBranch(worktree, { loop: loop.id, home, message: message(merged), always: !committed })
  if (merged || (await headTree(top)) === tree) return merged
  await reword(top, message(false), message(true)) // somebody has committed in the meantime
  return true
}

/** Hooks may also change the files of the squashed commit; then nothing has checked them. */
async function squash(
  loop: Loop,
  worktree: Worktree,
  { tree, home }: Pick<Bringing, 'tree' | 'home'>,
): Promise<Held | undefined> {
  const made = await squashBranch(worktree, {
    loop: loop.id,
    home,
    message: ({ changed, merged }) => commitMessage(loop, changed === undefined ? { tree, merged } : { tree: changed }),
  })
  return made && { tree: made.changed ?? tree, merged: made.merged }
}

/** Whether the work of a loop has been accepted, as far as git knows. */
export async function isAccepted({ id, spec }: Loop): Promise<boolean> {
  if (!spec.work.worktree) return false
  const names = await listCheckpoints(await repositoryOf(spec.work.worktree.from), id)
  return names.includes('merged') || names.includes('branched')
}

/** The same if its repository may be missing; a running loop has nothing to accept. */
export async function wasAccepted(loop: Loop): Promise<boolean> {
  if (!ended(loop)) return false
  return isAccepted(loop).catch(() => false)
}
