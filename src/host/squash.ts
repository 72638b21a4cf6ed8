/**
 * Merges the branch of a loop into the person's as one commit: created in the loop's own worktree, then made the tip of
 * theirs in one step.
 */
import type { Worktree } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { arrive, NO_STASH } from './arrival.ts'
import { askGit, inOneLine, must } from './git.ts'
import { tipOf, tryMerge } from './merge.ts'
import { inTrial } from './trial.ts'
import { headTree, mustBeOnBase, reword } from './worktree.ts'

/**
 * `merged`: the commit contains the work together with what the person's branch had. `changed`: its files, if hooks
 * have changed them.
 */
export type Squashed = { merged: boolean; changed?: string }

/** `message`: of the commit. */
type Squashing = { loop: string; home: string; message: (made: Squashed) => string }

/**
 * If anything goes wrong, the person's branch and files stay as they are. Undefined: there is no commit, since the
 * branch already has all of it.
 */
export async function squashBranch(worktree: Worktree, squashing: Squashing): Promise<Squashed | undefined> {
  const { from, path } = worktree
  const { loop, home } = squashing
  const { repo, base } = await mustBeOnBase(worktree, loop)
  const onto = await tipOf(path, base)
  const made = await inTrial(worktree, loop, () => makeCommit(worktree, { ...squashing, onto, base }))
  if (!made) return undefined
  const { commit } = made
  const coming = { loop, branch: base, onto, commit, work: commit, again: `ralph accept ${loop} --squash` }
  const moved = await arrive({ home, repo }, coming, (asking) =>
    askGit(repo.top, [...NO_STASH, 'merge', '--quiet', '--ff-only', commit], { ...asking, hooks: true }),
  )
  if (moved.ok) return made
  throw new RalphError(
    'git-failed',
    `Cannot merge the work of loop ${loop} into ${base}: ${inOneLine(moved.says)} Nothing was changed. Commit, stash or move these files in ${from}, or keep the branch: ralph accept ${loop} --branch`,
  )
}

type Making = Omit<Squashing, 'home'> & { onto: string; base: string }

async function makeCommit(
  worktree: Worktree,
  { loop, onto, base, message }: Making,
): Promise<(Squashed & { commit: string }) | undefined> {
  const { path, branch } = worktree
  const tried = await tryMerge(worktree, onto, `Merge branch '${branch}'`)
  if ('conflicts' in tried)
    throw new RalphError(
      'git-failed',
      `${branch} does not merge into ${base}: both changed ${tried.conflicts.join(', ')}. Nothing was changed. Merge it yourself with \`git merge --squash ${branch}\`, or keep the branch: ralph accept ${loop} --branch`,
    )
  const merged = !tried.same
  const marked = { env: { RALPH_LOOP_ID: loop }, minutes: 10 } // so that the next ralph can kill it
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
      `git commit failed in ${path}: ${inOneLine(committed.says)} Nothing was changed. Fix the cause in that folder, or keep the branch: ralph accept ${loop} --branch`,
    )
  const held = await headTree(path)
  if (held !== tree) await reword(path, message({ merged }), message({ merged, changed: held }))
  return {
    merged,
    commit: must(await askGit(path, ['rev-parse', '--verify', 'HEAD'])),
    ...(held === tree ? {} : { changed: held }),
  }
}
