/** Continues a task on another machine: its worktree is as the last pushed and recorded iteration left it. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Worktree } from '../engine/loop.ts'
import { isRalphError, RalphError } from '../error.ts'
import { listCheckpoints, NOW, refOf, setRefs } from './checkpoint.ts'
import type { Fenced } from './fence.ts'
import { hasCommit } from './fetch-objects.ts'
import { makePrivateFolder, realFolder, writeWhole } from './files.ts'
import { marksFile } from './fingerprint.ts'
import { findSite, must, type Repository } from './git.ts'
import { reap } from './process-tree.ts'
import { type Calling, type Trouble, unlessInterrupted } from './remote-call.ts'
import {
  chooseCheckpoint,
  fetchCheckpoints,
  type Numbered,
  type RemoteCheckpoints,
  stateOf,
} from './remote-checkpoints.ts'
import { openRepoCache } from './repo-cache.ts'
import { bringUpToDate } from './roll-back.ts'
import { takeFence } from './take-fence.ts'
import { mustBeOurs, type TaskPlace } from './task-names.ts'
import { isNoted } from './task-traces.ts'
import { layOut, type OpenTask, openTaskTree } from './task-tree.ts'
import { type Checkpoints, openTree } from './tree.ts'

/**
 * What the store knows about the loop: `pushed` is the commit that was pushed last, `iteration` and `tree` are from its
 * tally, and `worktree` is where it worked until now.
 */
export type TakingOver = TaskPlace &
  Calling & {
    epoch: number
    pushed?: string | undefined
    iteration: number
    tree?: string | undefined
    worktree: Worktree
  }

/** Nobody else can push for the task from here on. Before the first push it starts again where it started. */
export async function takeOverTask(taking: TakingOver): Promise<OpenTask | Fenced | Trouble> {
  mustBeOurs(taking)
  const { home, repo, pushed, signal } = taking
  const found = await findCheckpoints(taking)
  if (found.kind !== 'found') return found
  const at = pushed === undefined ? undefined : chooseCheckpoint(found.all, taking)
  const taken = await takeFence({ ...taking, kept: Math.max(at?.n ?? 0, taking.iteration) })
  if (taken.kind !== 'taken') return taken
  if (!at) return beginAgain(taking)
  const filling = { kept: found.all.filter(({ n }) => n <= at.n), at, marks: found.marks }
  const { commit } = taking.worktree
  const opened = openRepoCache(home).alone(
    repo,
    async ({ mirror: held }) => {
      const open = await layOut(held, openingOf(taking), {
        commit: (await hasCommit(held, commit)) ? commit : (at.kept.head ?? at.kept.commit),
        fill: (worktree) => fill(held, { ...taking, worktree }, filling),
        reuse: (worktree) => reuse(held, { ...taking, worktree }, filling),
      })
      return { ...open, tree: stateOf(at.kept) }
    },
    signal,
  )
  return unlessInterrupted(opened)
}

/** A disk that lost a part of the mirror loses nothing of the task. */
async function findCheckpoints(taking: TakingOver): Promise<RemoteCheckpoints | Trouble> {
  const { open, repair } = openRepoCache(taking.home)
  const fetchAll = async () => fetchCheckpoints(await open(taking.repo), taking)
  const found = await fetchAll()
  return found.kind === 'unreachable' && (await repair(taking.repo, found.why)) ? fetchAll() : found
}

function openingOf(taking: TakingOver) {
  const { base = '', copied, setup } = taking.worktree
  return { ...taking, base, ...(copied ? { copied } : {}), ...(setup === undefined ? {} : { setup }) }
}

/**
 * If nothing was recorded, the start is all there is. If only the checkpoints are missing, there is what was pushed.
 */
async function beginAgain(taking: TakingOver): Promise<OpenTask | Trouble> {
  const { home, loop, pushed, worktree } = taking
  const open = await openTaskTree({ ...openingOf(taking), at: pushed ?? worktree.commit })
  if (open.kind !== 'open' || pushed !== undefined) return open
  const { look, checkpoints } = await openTree({ ...open.work, home, loop, fresh: true })
  await look()
  await usable(checkpoints, open.work.dir).keep(0) // the loop keeps it only in its very first turn
  return open
}

function usable(checkpoints: Checkpoints | { none: string }, path: string): Checkpoints {
  if (!('none' in checkpoints)) return checkpoints
  throw new RalphError('git-failed', `The worktree ${path} cannot be used: ${checkpoints.none}.`)
}

type Filling = { kept: readonly Numbered[]; at: Numbered; marks: string | undefined }

/** Recorded where ralph looks for them, so that files, HEAD and index become what they were. */
async function fill(
  mirror: Repository,
  { home, loop, worktree }: TakingOver,
  { kept, at, marks }: Filling,
): Promise<void> {
  const tree = await openTree({ dir: worktree.path, home, loop, worktree })
  const { repo, restoring } = usable(tree.checkpoints, worktree.path)
  for (const { n, kept: one } of kept) must(await setRefs(repo, [refOf(loop, n)], one.commit))
  const later = (await listCheckpoints(repo, loop)).filter((name) => Number(name) > at.n)
  const gone = later.map((name) => refOf(loop, name))
  must(await setRefs(repo, [refOf(loop, NOW)], at.kept.commit, gone))
  if (marks !== undefined) {
    makePrivateFolder(join(realFolder(home), 'proof'))
    writeWhole(marksFile(home, loop), await mirror.read(`${marks}:marks.json`))
  }
  await bringUpToDate(restoring)
}

/** What was installed in the worktree of an earlier visit is worth keeping, unless it is damaged or half created. */
async function reuse(mirror: Repository, taking: TakingOver, filling: Filling): Promise<boolean> {
  const { home, loop, worktree } = taking
  if (!isNoted(home, loop) || !existsSync(worktree.path)) return false
  const site = await findSite(worktree.path)
  if ('none' in site || site.top !== worktree.path || site.commonDir !== mirror.commonDir) return false
  if (existsSync(join(site.gitDir, 'locked'))) return false
  await reap(loop, realFolder(home)) // what still runs there would keep writing
  rmSync(join(site.gitDir, 'index.lock'), { force: true }) // left by a killed git
  try {
    await fill(mirror, taking, filling)
    return true
  } catch (cause) {
    if (!isRalphError(cause)) throw cause
    return false
  }
}
