/**
 * Merges the branch of a task into the person's: tried out in the task's own worktree, then made the tip of their
 * branch in one step.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Worktree } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { arrive, type Checkout, NO_STASH } from './arrival.ts'
import { indexLock } from './branch.ts'
import { onDisk } from './files.ts'
import { type Asking, askGit, inOneLine, must } from './git.ts'
import { isFileAt } from './restore-files.ts'
import { repositoryOf, stageAll } from './worktree.ts'

/** `same`: the commit has exactly what the task's branch has, so there is nothing new to check. */
export type Tried = { merged: string; same: boolean } | { conflicts: string[] }

/** The mark lets the next ralph find and kill a git whose own ralph was killed. */
function marked(path: string): Asking {
  return { env: { RALPH_LOOP_ID: basename(path) }, minutes: 10 }
}

/** The tip of a branch. */
export async function tipOf(path: string, branch: string): Promise<string> {
  return must(await askGit(path, ['rev-parse', '--verify', `refs/heads/${branch}`]))
}

/** Both sides together in the worktree, on a detached HEAD. All of the task's work must be committed. */
export async function tryMerge({ path, branch }: Worktree, onto: string, message: string): Promise<Tried> {
  if ((await askGit(path, ['merge-base', '--is-ancestor', onto, branch])).ok)
    return { merged: await tipOf(path, branch), same: true }
  must(await askGit(path, ['checkout', '--quiet', '--detach', onto], marked(path)))
  const args = ['merge', '--quiet', '--ff', '--no-squash', '--commit', '-m', message, branch]
  const merged = await askGit(path, args, marked(path))
  const conflicts = await unmerged(path)
  if (conflicts.length > 0) return { conflicts }
  must(merged)
  return { merged: await headOf(path), same: false }
}

async function headOf(path: string): Promise<string> {
  return must(await askGit(path, ['rev-parse', '--verify', 'HEAD']))
}

async function unmerged(path: string): Promise<string[]> {
  const answer = await askGit(path, ['diff', '--name-only', '--diff-filter=U', '-z'])
  return answer.ok ? [...new Set(answer.out.split('\0').filter(Boolean))] : []
}

/**
 * Undoes what a trial did to the worktree, even one that was killed halfway: it is on its branch again, as committed.
 */
export async function leaveTrial(
  { path, branch }: Worktree,
  { committed, onto }: { committed: string; onto: string },
): Promise<void> {
  const lock = await indexLock(path)
  if (lock) rmSync(lock, { force: true }) // left by a killed git: nobody else works here
  must(await askGit(path, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]))
  must(await askGit(path, ['reset', '--quiet', '--hard', committed], marked(path)))
  // Files that only the other side has, and git does not know here: written by an interrupted checkout.
  const repo = await repositoryOf(path)
  const how = ['-r', '-z', '--name-only', '--no-renames', '--diff-filter=A']
  for (const file of (await repo.list(['diff-tree', ...how, committed, onto, '--'])) ?? [])
    if (isFileAt(path, file)) rmSync(onDisk(path, file), { force: true })
}

/** The branch of the task becomes what was tried out. */
export async function keepTrial({ path, branch }: Worktree, commit: string): Promise<void> {
  must(await askGit(path, ['checkout', '--quiet', '-B', branch, commit], marked(path)))
}

/** Whether a merge is in progress, or done with both sides in it. */
export async function isMerging({ path, branch }: Worktree, onto: string): Promise<boolean> {
  if (existsSync(await gitPath(path, 'MERGE_HEAD'))) return true
  const has = async (side: string) => (await askGit(path, ['merge-base', '--is-ancestor', side, 'HEAD'])).ok
  return (await has(onto)) && (await has(branch))
}

/**
 * The outcome of an agent's work on a conflict: the commit with both sides, or what is still wrong, in words for the
 * agent.
 */
export async function concludeMerge(
  worktree: Worktree,
  { onto, conflicts }: { onto: string; conflicts: readonly string[] },
  message: string,
): Promise<{ merged: string } | { wrong: string }> {
  const { path, branch } = worktree
  const unresolved = conflicts.filter((file) => hasMarkers(join(path, file)))
  if (unresolved.length > 0) return { wrong: `conflict markers are left in ${unresolved.join(', ')}.` }
  await stageAll(worktree)
  const merging = existsSync(await gitPath(path, 'MERGE_HEAD'))
  if (merging || !(await askGit(path, ['diff', '--cached', '--quiet'])).ok)
    must(await askGit(path, ['commit', '--quiet', '--no-verify', '-m', message], marked(path)))
  for (const [side, name] of [
    [onto, 'the branch'],
    [branch, 'the task'],
  ] as const)
    if (!(await askGit(path, ['merge-base', '--is-ancestor', side, 'HEAD'])).ok)
      return { wrong: `the merge was abandoned: it does not contain the commits of ${name}.` }
  for (const file of conflicts) {
    const dropped = await droppedSide(path, file, { onto, branch })
    if (dropped) return { wrong: `${file} ${dropped}` }
  }
  return { merged: await headOf(path) }
}

/**
 * A file that both sides changed and that now equals one of them has lost the work of the other. One that a side
 * deleted cannot have both, so either result may stand.
 */
async function droppedSide(
  path: string,
  file: string,
  { onto, branch }: { onto: string; branch: string },
): Promise<string | undefined> {
  const blob = async (commit: string) => {
    const answer = await askGit(path, ['rev-parse', '--verify', '--quiet', `${commit}:${file}`])
    return answer.ok ? answer.out : undefined
  }
  const [now, theirs, ours] = await Promise.all([blob('HEAD'), blob(onto), blob(branch)])
  if (theirs === ours || theirs === undefined || ours === undefined) return undefined
  if (now === undefined) return 'was deleted, which drops the changes of both sides.'
  if (now === theirs) return 'is exactly what the branch had, which drops the changes of the task.'
  return now === ours ? 'is exactly what the task had, which drops the changes of the branch.' : undefined
}

function hasMarkers(file: string): boolean {
  try {
    return /^(<{7} |>{7} )/m.test(readFileSync(file, 'utf8'))
  } catch {
    return false // deleted: whether that was right is checked elsewhere
  }
}

async function gitPath(path: string, name: string): Promise<string> {
  return must(await askGit(path, ['rev-parse', '--path-format=absolute', '--git-path', name]))
}

/**
 * Moves the person's branch from `onto` to `commit`, which builds on it. False: it has moved meanwhile, so both sides
 * must be merged again.
 */
export async function forward(
  { home, repo }: Checkout,
  { path, base = '' }: Worktree,
  { commit, onto }: { commit: string; onto: string },
): Promise<boolean> {
  const tip = must(await repo.ask(['rev-parse', '--verify', `refs/heads/${base}`]))
  if (tip === commit || (await repo.ask(['merge-base', '--is-ancestor', commit, tip])).ok) return true
  if (tip !== onto) return false
  const current = await repo.ask(['symbolic-ref', '--quiet', '--short', 'HEAD'])
  if (!current.ok || current.out !== base)
    return (await repo.ask(['update-ref', `refs/heads/${base}`, commit, onto])).ok
  const coming = { loop: basename(path), branch: base, onto, commit, work: commit }
  const moved = await arrive({ home, repo }, coming, (asking) =>
    repo.ask([...NO_STASH, 'merge', '--quiet', '--ff-only', commit], asking),
  )
  if (moved.ok) return true
  if (must(await repo.ask(['rev-parse', '--verify', `refs/heads/${base}`])) !== onto) return false
  throw new RalphError(
    'git-failed',
    `Cannot merge the work of a task into ${base}: ${inOneLine(moved.says)} Commit, stash or move these files, then resume.`,
  )
}

/** Whether everything a task committed is part of the person's branch. Its own branch may be deleted already. */
export async function hasArrived({ from, branch, base = '' }: Worktree): Promise<boolean> {
  const known = await askGit(from, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`])
  return !known.ok || (await askGit(from, ['merge-base', '--is-ancestor', branch, base])).ok
}
