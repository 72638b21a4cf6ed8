/** Where ralph's own git works and whose configuration it reads, whatever an agent has left in the repository since. */
import { AsyncLocalStorage } from 'node:async_hooks'

export type Site = {
  top: string
  gitDir: string
  /** What the worktrees of the repository share; with only one it is `gitDir`. */
  commonDir: string
  /** A folder that replaces `commonDir`, with the configuration of the repository as it was and without hooks. */
  pinned?: string
  /** The file that records the commit of each checkpoint. */
  commits?: string
}

/**
 * Names it to git. A command that lists or creates worktrees must see the repository's own folder, and reads no files
 * of the worktree.
 */
export function environmentOf({ top, gitDir, commonDir, pinned }: Site, command: string): Record<string, string> {
  return {
    GIT_DIR: gitDir,
    GIT_WORK_TREE: top,
    GIT_COMMON_DIR: pinned === undefined || command === 'worktree' ? commonDir : pinned,
    // It compares two trees, but fails if the index is damaged.
    ...(command === 'diff-tree' ? { GIT_INDEX_FILE: `${gitDir}/ralph-no-index` } : {}),
  }
}

const held = new AsyncLocalStorage<readonly Site[]>()

/**
 * During this work, git in the top folder of one of these sites uses that site, even if the caller does not name it.
 */
export function holding<Result>(sites: readonly Site[], work: () => Promise<Result>): Promise<Result> {
  return held.run(sites, work)
}

export function siteAt(dir: string): Site | undefined {
  return held.getStore()?.find(({ top }) => top === dir)
}
