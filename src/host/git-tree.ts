/** The worktree of a loop in a git repository: its state is a snapshot, and each can be kept as a checkpoint. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isRalphError, RalphError } from '../error.ts'
import { lastKept, openKeeper, readDiff } from './checkpoint.ts'
import { NO_REPOSITORY } from './folder.ts'
import { openPin, pinFolder, pinOrigin } from './pin.ts'
import { openSnapshots, type Snapshot } from './snapshot.ts'
import type { Place, Tree } from './tree.ts'

/** `home` and `place` with links resolved; `own` are folders that are left out. */
export type Opening = Place & { place: string; own: readonly string[] }

/** If git does not answer, the state is unknown; what was done so far is worth more than knowing it. */
function unknown(cause: unknown): undefined {
  if (!isRalphError(cause)) throw cause
}

/** `none` says why there is no repository for this loop. */
export async function openGitTree(opening: Opening): Promise<Tree | { none: string }> {
  const { place, own, loop, home, gitDir, fresh, worktree } = opening
  const index = join(home, 'index', loop)
  const folder = pinFolder(home, loop)
  // A repository that an agent in a sandbox created in a folder without one is not ralph's.
  if (opening.sandbox && opening.begun && gitDir === undefined && !existsSync(folder) && !existsSync(index))
    return { none: NO_REPOSITORY }
  const pin = await openPin({ folder, place, gitDir, fresh })
  if ('none' in pin) return pin
  if (worktree) await pinOrigin(home, loop, worktree.from)
  const noticed = new Set(pin.repair())
  const { repo } = pin

  const snapshots = await openSnapshots(repo, { index, own, loop })
  const keep = openKeeper({ repo, snapshots, loop })
  let last: Snapshot | undefined
  return {
    get seen() {
      return last !== undefined
    },
    async look() {
      for (const sentence of await pin.look()) noticed.add(sentence)
      last = await snapshots.take().catch(unknown)
      return last && [last.tree, last.head ?? 'no-commit', last.beside].join(' ').trimEnd()
    },
    checkpoints: {
      repo,
      large: snapshots.large,
      noticed,
      async keep(n) {
        if (!last) throw new RalphError('git-failed', `git cannot read the files in ${repo.top}.`)
        const since = n > 0 ? await lastKept(repo, loop) : undefined
        const diff = since === undefined ? undefined : await readDiff(repo, since, last.tree)
        await keep(n, last)
        return diff
      },
      restoring: { repo, snapshots, keep, loop, place },
    },
  }
}
