/** The work tree of a loop: what state it is in, and, where there is git, checkpoints of it. Ralph's own files are left out. */
import { join } from 'node:path'
import type { Diff } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { NOW, openKeeper, readDiff, refOf } from './checkpoint.ts'
import { pathBelow, realFolder } from './files.ts'
import { folderState } from './folder.ts'
import { openRepository, type Repository } from './git.ts'
import type { Restoring } from './restore.ts'
import { openSnapshots, type Snapshot } from './snapshot.ts'

export type Tree = {
  /** The state now as one short text, equal when nothing has changed; undefined when it cannot be told. */
  look(): Promise<string | undefined>
  /** Whether it has been looked at. */
  readonly seen: boolean
  checkpoints: Checkpoints | { none: string }
}

export type Checkpoints = {
  repo: Repository
  /** Keeps what the last look saw as checkpoint n, and tells how it differs from the one before. */
  keep(n: number): Promise<Diff | undefined>
  /** For going back to one. */
  restoring: Restoring
  /** Untracked files that are too large to be kept. */
  large: ReadonlySet<string>
}

/** `gitDir` is where the loop found its repository when it began; another one is none of its business. */
export type Place = {
  dir: string
  home: string
  loop: string
  gitDir?: string
  faces?: string[]
}

export async function openTree({ dir, home, loop, gitDir, faces = [] }: Place): Promise<Tree> {
  const place = realFolder(dir)
  const ralphs = realFolder(home)
  const own = [ralphs, ...faces]
  const found = await openRepository(place)
  const strange = gitDir !== undefined && !('none' in found) && found.gitDir !== gitDir
  const repo = strange ? { none: `the git repository it began in, ${gitDir}, is gone` } : found
  if ('none' in repo)
    return {
      seen: true,
      look: async () => folderState(place, new Set(own.flatMap((folder) => pathBelow(place, folder) ?? []))),
      checkpoints: repo,
    }

  const snapshots = await openSnapshots(repo, { index: join(ralphs, 'index', loop), own, loop })
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
