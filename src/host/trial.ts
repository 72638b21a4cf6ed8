/**
 * Uses the worktree of a loop to try something out, and puts it back on its branch afterwards, even if ralph was killed
 * meanwhile.
 */
import type { Worktree } from '../engine/loop.ts'
import { refOf } from './checkpoint.ts'
import { must } from './git.ts'
import { leaveTrial } from './merge.ts'
import { repositoryOf } from './worktree.ts'

/** All of the work must be committed. */
export async function inTrial<Result>(worktree: Worktree, loop: string, work: () => Promise<Result>): Promise<Result> {
  const { ask } = await repositoryOf(worktree.from)
  must(await ask(['update-ref', markOf(loop), `refs/heads/${worktree.branch}`]))
  try {
    return await work()
  } finally {
    await leaveTrials(worktree, loop)
  }
}

/** The same if the ralph that tried was killed. Does nothing if none was. */
export async function leaveTrials(worktree: Worktree, loop: string): Promise<void> {
  const { from, base = '' } = worktree
  const { ask } = await repositoryOf(from)
  const committed = await ask(['rev-parse', '--verify', '--quiet', markOf(loop)])
  if (!committed.ok) return
  await leaveTrial(worktree, { committed: committed.out, onto: `refs/heads/${base}` })
  must(await ask(['update-ref', '-d', markOf(loop)]))
}

/** What the branch was before its worktree was used for this. */
function markOf(loop: string): string {
  return refOf(loop, 'squash')
}
