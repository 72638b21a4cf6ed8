/** Brings the branch of a loop into the person's as one commit: made in the loop's own work tree, then the tip of theirs in one step. */
import type { Worktree } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { refOf } from './checkpoint.ts'
import { askGit, inOneLine, must } from './git.ts'
import { leaveTrial, tipOf, tryMerge } from './merge.ts'
import { headTree, mustBeOnBase, repositoryOf, reword } from './worktree.ts'

/** `merged`: the commit holds the work together with what the person's branch had. `changed`: its files, where hooks have changed them. */
export type Squashed = { merged: boolean; changed?: string }

/** `message`: of the commit. */
type Squashing = { loop: string; message: (made: Squashed) => string }

/**
 * Whatever stands in the way, the person's branch and files stay as they are. Undefined: there is
 * no commit, since the branch has all of it already.
 */
export async function squashBranch(worktree: Worktree, { loop, message }: Squashing): Promise<Squashed | undefined> {
  const { from, path, branch } = worktree
  const { repo, base } = await mustBeOnBase(worktree, loop)
  const onto = await tipOf(path, base)
  must(await repo.ask(['update-ref', markOf(loop), `refs/heads/${branch}`]))
  const made = await inWorktree(worktree, loop, () => makeCommit(worktree, { loop, onto, base, message }))
  if (!made) return undefined
  const moved = await askGit(repo.top, ['merge', '--quiet', '--ff-only', made.commit], { hooks: true, minutes: 10 })
  if (moved.ok) return made
  throw new RalphError(
    'git-failed',
    `${base} cannot take the work of loop ${loop}: ${inOneLine(moved.says)} Nothing was changed. Commit, stash or move these files in ${from}, or leave the work as a branch: ralph accept ${loop} --branch`,
  )
}

async function inWorktree<Result>(worktree: Worktree, loop: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } finally {
    await leaveSquash(worktree, loop)
  }
}

/** The work tree is on its branch again, also where the ralph that tried was killed. Nothing happens where none did. */
export async function leaveSquash(worktree: Worktree, loop: string): Promise<void> {
  const { from, base = '' } = worktree
  const repo = await repositoryOf(from)
  const committed = await repo.ask(['rev-parse', '--verify', '--quiet', markOf(loop)])
  if (!committed.ok) return
  await leaveTrial(worktree, { committed: committed.out, onto: `refs/heads/${base}` })
  must(await repo.ask(['update-ref', '-d', markOf(loop)]))
}

/** What the branch was before its work tree was used for this. */
function markOf(loop: string): string {
  return refOf(loop, 'squash')
}

type Making = Squashing & { onto: string; base: string }

async function makeCommit(
  worktree: Worktree,
  { loop, onto, base, message }: Making,
): Promise<(Squashed & { commit: string }) | undefined> {
  const { path, branch } = worktree
  const tried = await tryMerge(worktree, onto, `Merge branch '${branch}'`)
  if ('conflicts' in tried)
    throw new RalphError(
      'git-failed',
      `${branch} does not merge into ${base}: both changed ${tried.conflicts.join(', ')}. Nothing was changed. Merge by hand with \`git merge --squash ${branch}\`, or leave it as a branch: ralph accept ${loop} --branch`,
    )
  const merged = !tried.same
  const marked = { env: { RALPH_LOOP_ID: loop }, minutes: 10 } // so that the next ralph can end it
  must(await askGit(path, ['checkout', '--quiet', '--detach', tried.merged], marked))
  const tree = await headTree(path)
  must(await askGit(path, ['reset', '--quiet', '--soft', onto]))
  if (tree === (await headTree(path))) return undefined
  const committed = await askGit(path, ['commit', '--quiet', '--file', '-'], {
    ...marked,
    stdin: message({ merged }),
    hooks: true,
  })
  if (!committed.ok)
    throw new RalphError(
      'git-failed',
      `git commit failed in ${path}: ${inOneLine(committed.says)} Nothing was changed. Fix the cause in that folder, or leave the work as a branch: ralph accept ${loop} --branch`,
    )
  const held = await headTree(path)
  if (held !== tree) await reword(path, message({ merged }), message({ merged, changed: held }))
  return {
    merged,
    commit: must(await askGit(path, ['rev-parse', '--verify', 'HEAD'])),
    ...(held === tree ? {} : { changed: held }),
  }
}
