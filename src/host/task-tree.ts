/** The worktree of a task on this machine: created from the mirror of its repository, removed without a trace. */
import { join } from 'node:path'
import type { Work, Worktree } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { ensureCommit } from './fetch-objects.ts'
import { realFolder } from './files.ts'
import { must, openRepository, type Repository } from './git.ts'
import { type Calling, type Trouble, unlessInterrupted } from './remote-call.ts'
import { openRepoCache } from './repo-cache.ts'
import { maskUrl } from './repo-url.ts'
import { headOf, mustBeBranch, mustBeOurs, type TaskPlace } from './task-names.ts'
import { clearTask, forgetLock, noteTask } from './task-traces.ts'
import { copyOver, ensureWorktree, mustBeCopyable } from './worktree.ts'

/**
 * `at`: the commit it starts at; absent: the newest one of `base`. `copied`: files that a person put into the folder of
 * the mirror for all tasks of this repository. `setup`: a command that prepares it, for later.
 */
export type TaskOpening = TaskPlace & Calling & { base: string; at?: string; copied?: string[]; setup?: string }

/** `work` is what the spec of its loop says about the place, `tree` its current state. */
export type OpenTask = {
  kind: 'open'
  work: Required<Pick<Work, 'dir' | 'worktree' | 'gitDir'>>
  tree: string
}

/** Starts over: whatever an earlier visit left of the task on this machine is removed. */
export async function openTaskTree(opening: TaskOpening): Promise<OpenTask | Trouble> {
  mustBeOurs(opening)
  mustBeBranch(opening.base)
  const { home, repo, base, at, signal } = opening
  const opened = openRepoCache(home).alone<OpenTask | Trouble>(
    repo,
    async (held) => {
      const fetched = await held.fetch([headOf(base)], opening)
      if (fetched.kind !== 'fetched') return fetched
      const { mirror } = fetched
      const commit = at ?? fetched.commits.get(headOf(base)) ?? ''
      if (!(await ensureCommit(mirror, commit, opening)))
        return { kind: 'refused', why: `The commit ${commit} is no longer in ${maskUrl(repo)}.` }
      return layOut(mirror, opening, { commit })
    },
    signal,
  )
  return unlessInterrupted(opened)
}

/**
 * `commit`: where its branch starts. `fill` brings it to the state in which work continues. `reuse`: whether what an
 * earlier visit left has been brought there, so that nothing must be created.
 */
export type Layout = {
  commit: string
  fill?(worktree: Worktree): Promise<void>
  reuse?(worktree: Worktree): Promise<boolean>
}

/** The caller holds the mirror exclusively. */
export async function layOut(
  mirror: Repository,
  { home, base, branch, loop, repo, copied = [], setup }: TaskOpening,
  { commit, fill, reuse }: Layout,
): Promise<OpenTask> {
  const path = join(realFolder(home), 'worktrees', loop)
  const from = mirror.top
  mustBeCopyable(from, copied)
  const worktree: Worktree = { from, path, branch, commit, base }
  if (!(await reuse?.(worktree))) {
    await clearTask(mirror, { home, branch, loop })
    noteTask(home, { repo, branch, loop })
    await ensureWorktree(worktree, async () => fill?.(worktree))
  }
  const linked = await openRepository(path)
  if ('none' in linked) throw new RalphError('git-failed', `git created a worktree at ${path}, but ${linked.none}.`)
  for (const name of copied) await copyIgnored(linked, from, name)
  const tree = must(await linked.ask(['rev-parse', '--verify', `${commit}^{tree}`]))
  const asked = { ...(copied.length > 0 ? { copied } : {}), ...(setup === undefined ? {} : { setup }) }
  return {
    kind: 'open',
    work: { dir: path, worktree: { ...worktree, ...asked }, gitDir: linked.gitDir },
    tree: `${tree} ${commit}`,
  }
}

/** What git does not ignore would be pushed with the next iteration. */
async function copyIgnored({ ask, top }: Repository, from: string, name: string): Promise<void> {
  const [ignored, tracked] = await Promise.all([
    ask(['check-ignore', '--quiet', '--', name]),
    ask(['ls-files', '--error-unmatch', '--', name]),
  ])
  if (ignored.ok) copyOver(from, top, name)
  else if (!tracked.ok)
    throw new RalphError(
      'input-invalid',
      `worktree_files in the config names ${name}, which git does not ignore, so a worker would push it. Add it to .gitignore.`,
    )
}

/** Removes its worktree, its branch and its checkpoints from this machine; the remote is left as it is. */
export async function closeTaskTree({ home, repo, branch, loop }: TaskPlace): Promise<void> {
  mustBeOurs({ branch, loop })
  const mirror = await openRepoCache(home).alone(repo, async ({ mirror: held }) => {
    await clearTask(held, { home, branch, loop })
    forgetLock(home, loop)
    return held
  })
  // git decides whether it is time. The outcome does not matter to the task.
  await mirror.ask([...GC, 'gc', '--auto', '--quiet'], { minutes: 10 })
}

// ralph's own git does no housekeeping where a person works; here nobody else does.
const GC = ['gc.auto=6700', 'gc.autoDetach=false', 'maintenance.auto=true'].flatMap((set) => ['-c', set])
