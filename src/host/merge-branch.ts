/** Merges the branch of a loop into the person's, in their checkout and with their hooks. */
import type { Worktree } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { arrive, NO_STASH } from './arrival.ts'
import { askGit, inOneLine, type Repository } from './git.ts'
import { tipOf, tryMerge } from './merge.ts'
import { inTrial } from './trial.ts'
import { mustBeOnBase } from './worktree.ts'

/** `always`: with a merge commit, even where a fast-forward is possible. */
type Merging = { loop: string; home: string; message: string; always: boolean }

/** If anything goes wrong, nothing is left half merged. */
export async function mergeBranch(worktree: Worktree, { loop, home, message, always }: Merging): Promise<void> {
  const { branch } = worktree
  const { repo, base } = await mustBeOnBase(worktree, loop)
  const [onto, work] = await Promise.all([tipOf(repo.top, base), tipOf(repo.top, branch)])
  const foreseen = await foresee(repo, worktree, { loop, onto, work })
  if ('conflicts' in foreseen) throw doesNotMerge(foreseen.conflicts)
  const how = ['--quiet', '--no-edit', '--no-squash', '--commit', ...(always ? ['--no-ff'] : []), '-m', message]
  let conflicts: string[] = []
  const coming = { loop, branch: base, onto, work, commit: foreseen.tree, again: `ralph accept ${loop}` }
  const merged = await arrive({ home, repo }, coming, async (asking) => {
    const answer = await askGit(repo.top, [...NO_STASH, 'merge', ...how, branch], { ...asking, hooks: true })
    if (answer.ok) return answer
    const listed = await repo.ask(['diff', '--name-only', '--diff-filter=U', '-z'])
    await repo.ask(['merge', '--abort'])
    conflicts = listed.ok ? listed.out.split('\0').filter(Boolean) : []
    return answer
  })
  if (!merged.ok) throw doesNotMerge(conflicts, merged.says)

  function doesNotMerge(files: readonly string[], says = ''): RalphError {
    const why = files.length > 0 ? `both changed ${files.join(', ')}.` : inOneLine(says)
    return new RalphError(
      'git-failed',
      `${branch} does not merge into ${base}: ${why} Nothing was changed. Merge it yourself with \`git merge ${branch}\`, or keep the branch: ralph accept ${loop} --branch`,
    )
  }
}

type Foreseeing = { loop: string; onto: string; work: string }

/** What the files will be, tried out elsewhere. Hooks may change them further; the merge itself reports conflicts. */
async function foresee(
  repo: Repository,
  worktree: Worktree,
  { loop, onto, work }: Foreseeing,
): Promise<{ tree: string } | { conflicts: string[] }> {
  if ((await repo.ask(['merge-base', '--is-ancestor', onto, work])).ok) return { tree: work }
  const how = ['--write-tree', '-z', '--name-only', '--no-messages', '--allow-unrelated-histories']
  const merged = await repo.ask(['merge-tree', ...how, 'HEAD', worktree.branch])
  const [tree = ''] = (merged.ok ? merged.out : merged.code === 1 ? merged.says : '').split('\0')
  if (/^[0-9a-f]{40,}$/.test(tree)) return { tree }
  // Before 2.38 git can only merge in a worktree.
  const tried = await inTrial(worktree, loop, () => tryMerge(worktree, onto, `Merge branch '${worktree.branch}'`))
  return 'conflicts' in tried ? tried : { tree: tried.merged }
}
