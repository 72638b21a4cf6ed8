/** The worktree of a loop: its state, and, with git, checkpoints of it. ralph's own files are left out. */
import type { Diff, Work, Worktree } from '../engine/loop.ts'
import { pathBelow, realFolder } from './files.ts'
import { folderState, mayBeRepository, NO_REPOSITORY } from './folder.ts'
import type { Repository } from './git.ts'
import { openGitTree } from './git-tree.ts'
import type { Restoring } from './restore.ts'

export type Tree = {
  /** The current state as one short text, equal if nothing has changed; undefined if it is unknown. */
  look(): Promise<string | undefined>
  /** Whether it has been looked at. */
  readonly seen: boolean
  checkpoints: Checkpoints | { none: string }
}

export type Checkpoints = {
  repo: Repository
  /** Keeps what the last look saw as checkpoint n, and returns how it differs from the one before. */
  keep(n: number): Promise<Diff | undefined>
  /** For a rollback to one. */
  restoring: Restoring
  /** Untracked files that are too large to keep. */
  large: ReadonlySet<string>
  /** What somebody did to the repository itself that a person should know, in sentences. */
  noticed: ReadonlySet<string>
}

/** `gitDir` is where the loop found its repository when it started; another one is none of its business. */
export type Place = {
  dir: string
  home: string
  loop: string
  gitDir?: string
  faces?: string[]
  worktree?: Worktree
  sandbox?: NonNullable<Work['sandbox']>
  /** An agent has worked here. */
  begun?: boolean
  /** Reads again what is known about the repository: nothing has happened yet. */
  fresh?: true
}

export async function openTree(given: Place): Promise<Tree> {
  const place = realFolder(given.dir)
  const ralphs = realFolder(given.home)
  const own = [ralphs, ...(given.faces ?? [])]
  const found = mayBeRepository(place)
    ? await openGitTree({ ...given, place, home: ralphs, own })
    : { none: NO_REPOSITORY }
  if (!('none' in found)) return found
  return {
    seen: true,
    look: async () => folderState(place, new Set(own.flatMap((folder) => pathBelow(place, folder) ?? []))),
    checkpoints: found,
  }
}

/** The files of a state, without HEAD and what git cannot store: a tree object, with git. */
export function treeIn(state: string): string {
  return state.split(' ')[0] ?? state
}
