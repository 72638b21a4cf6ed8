/** The work tree of a loop where there is git: its state is a snapshot, and each can be kept as a checkpoint. */
import { RalphError } from '../error.ts'
import { NOW, openKeeper, readDiff, refOf } from './checkpoint.ts'
import { openRepository } from './git.ts'
import { openSnapshots, type Snapshot } from './snapshot.ts'
import type { Tree } from './tree.ts'

/** `own` are folders that are left out; `index` is the path of the private index. */
export type Opening = { place: string; own: readonly string[]; loop: string; gitDir: string | undefined; index: string }

/** `none` says why there is no repository for this loop. */
export async function openGitTree({ place, own, loop, gitDir, index }: Opening): Promise<Tree | { none: string }> {
  const repo = await openRepository(place)
  if ('none' in repo) return repo
  if (gitDir !== undefined && repo.gitDir !== gitDir)
    return { none: `the git repository it began in, ${gitDir}, is gone` }

  const snapshots = await openSnapshots(repo, { index, own, loop })
  const keep = openKeeper({ repo, snapshots, loop })
  let last: Snapshot | undefined
  return {
    get seen() {
      return last !== undefined
    },
    async look() {
      last = await snapshots.take()
      return last && [last.tree, last.head ?? 'no-commit', last.beside].join(' ').trimEnd()
    },
    checkpoints: {
      repo,
      large: snapshots.large,
      async keep(n) {
        if (!last) throw new RalphError('git-failed', `git cannot tell what is in ${repo.top}.`)
        const diff = n > 0 ? await readDiff(repo, refOf(loop, NOW), last.tree) : undefined
        await keep(n, last)
        return diff
      },
      restoring: { repo, snapshots, keep, loop, place },
    },
  }
}
