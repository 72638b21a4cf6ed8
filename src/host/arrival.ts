/**
 * An arrival: the one step in which work becomes part of a person's checkout. It is noted before git starts, so that
 * the next ralph can take back what a kill left behind.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Arrival,
  type Checkout,
  type Coming,
  forget,
  hold,
  listNotes,
  markerOf,
  readNote,
  scratchOf,
  tryHold,
  writeNote,
} from './arrival-note.ts'
import { clearLocks, listLocks } from './checkout-locks.ts'
import { underWay } from './checkpoint.ts'
import { type Answer, type Asking, must, openRepository, type Repository } from './git.ts'
import { endProcesses } from './process-tree.ts'
import { isFileAt } from './restore-files.ts'
import { listChanges, listDiffering, type TakenBack, takeBack } from './take-back.ts'

export type { Checkout, Coming } from './arrival-note.ts'

/** What a killed ralph left in a checkout. `gone`: the person has moved on since, so nothing was touched. */
export type Repaired = Pick<Coming, 'loop' | 'branch' | 'again'> & { dir: string } & (TakenBack | { gone: true })

/** Work that git stashes during a merge would stay stashed if git is killed. */
export const NO_STASH: readonly string[] = ['-c', 'merge.autoStash=false']

/** `step` is the call of git. If it fails or is interrupted, the checkout is as before. */
export async function arrive(
  { home, repo }: Checkout,
  coming: Coming,
  step: (asking: Asking) => Promise<Answer>,
): Promise<Answer> {
  const checkout = { home, repo }
  const lock = await hold(checkout)
  try {
    await settle(checkout)
    const [theirs, locks] = await Promise.all([changedBefore(repo, coming), listLocks(repo, coming.branch)])
    const arrival: Arrival = { ...coming, theirs, locks, dir: repo.top }
    await writeNote(checkout, arrival)
    const answer = await step({ env: { RALPH_LOOP_ID: coming.loop, ...markerOf(repo).env }, minutes: 10 })
    if (!answer.ok) await takeArrivalBack(checkout, arrival)
    await forget(checkout, coming.loop)
    return answer
  } finally {
    lock.close()
  }
}

/** Cleans up what a killed ralph left in a checkout. Undefined: nothing to do, or a living process is working on it. */
export async function repairCheckout(checkout: Checkout): Promise<Repaired | undefined> {
  if (!readNote(checkout)) return undefined
  const lock = tryHold(checkout)
  if ('heldBy' in lock) return undefined
  try {
    return await settle(checkout)
  } finally {
    lock.close()
  }
}

/** The same in every checkout that this home knows of. */
export async function repairCheckouts(home: string): Promise<Repaired[]> {
  const repaired: Repaired[] = []
  for (const { dir } of listNotes(home)) {
    const repo = await openRepository(dir)
    const found = 'none' in repo ? undefined : await repairCheckout({ home, repo }) // it may be on a disk that is not mounted now
    if (found) repaired.push(found)
  }
  return repaired
}

/** What was found and what was done, for a person. */
export function repairedWords(repaired: Repaired): string {
  const { loop, branch, dir } = repaired
  const cutOff = `ralph was killed while merging the work of loop ${loop} into ${branch} in ${dir}.`
  if ('gone' in repaired) return `${cutOff} ${branch} is no longer checked out as it was then, so no file was touched.`
  const { files, left } = repaired
  const back = files === 1 ? '1 file was restored' : `${files} files were restored`
  const done = files === 0 ? 'No file had been changed' : back
  const named = left.length > 5 ? `${left.slice(0, 5).join(', ')} and ${left.length - 5} more` : left.join(', ')
  return `${cutOff} ${done}, and nothing was merged.${named ? ` Changed since then and left alone: ${named}.` : ''}`
}

async function settle(checkout: Checkout): Promise<Repaired | undefined> {
  const { repo } = checkout
  const arrival = readNote(checkout)
  if (!arrival) return undefined
  if ((await standOf(repo, arrival)) === 'open')
    // Only now: a hook that runs after the work has arrived may continue.
    await endProcesses({ group: 0, marker: markerOf(repo).text, forks: 0, graceMs: 1_000, exited: () => true })
  const stand = await standOf(repo, arrival)
  const { loop, branch, again, dir } = arrival
  const about = { loop, branch, dir, ...(again === undefined ? {} : { again }) }
  const back = stand === 'open' ? await takeArrivalBack(checkout, arrival) : undefined
  if (stand === 'arrived') await endMerge(repo, arrival)
  await forget(checkout, loop)
  if (stand === 'arrived') return undefined
  return { ...about, ...(back ?? { gone: true }) }
}

/**
 * `open`: the branch is where it was, or further on, without the work. `gone`: another branch is checked out, or this
 * one was reset.
 */
async function standOf(repo: Repository, { branch, onto, work }: Coming): Promise<'open' | 'arrived' | 'gone'> {
  const current = await repo.ask(['symbolic-ref', '--quiet', 'HEAD'])
  if (!current.ok || current.out !== `refs/heads/${branch}`) return 'gone'
  const holds = async (commit: string) => (await repo.ask(['merge-base', '--is-ancestor', commit, 'HEAD'])).ok
  if (await holds(work)) return 'arrived'
  return (await holds(onto)) ? 'open' : 'gone'
}

async function takeArrivalBack(checkout: Checkout, arrival: Arrival): Promise<TakenBack> {
  const { repo } = checkout
  await clearLocks(repo, arrival.branch, arrival.locks)
  if ((await standOf(repo, arrival)) !== 'open') return { files: 0, left: [] }
  const back = await takeBack(repo, arrival, scratchOf(checkout))
  await endMerge(repo, arrival)
  return back
}

/** A merge of ours that git still considers in progress. */
async function endMerge(repo: Repository, { work }: Coming): Promise<void> {
  const merging = await repo.ask(['rev-parse', '--verify', '--quiet', 'MERGE_HEAD'])
  if (merging.ok && merging.out === work) must(await repo.ask(['merge', '--quit']))
  // git writes this one first, and the other after the first hook.
  if (underWay(repo) === undefined) rmSync(join(repo.gitDir, 'AUTO_MERGE'), { force: true })
}

/**
 * Paths of the step that differed from `onto` before it: git refuses to overwrite them, and they are not ours to take
 * back.
 */
async function changedBefore(repo: Repository, { onto, commit }: Coming): Promise<string[]> {
  const [changes, files, staged, flags] = await Promise.all([
    listChanges(repo, onto, commit),
    listDiffering(repo, [onto]),
    listDiffering(repo, ['--cached', onto]),
    repo.list(['ls-files', '-v', '-z']),
  ])
  // git was told not to look at these, so nobody can tell whether they changed.
  const hidden = (flags ?? []).flatMap((line) => (/^[a-zS] /.test(line) ? [line.slice(2)] : []))
  const changed = new Set([...files, ...staged, ...hidden])
  return changes.flatMap(({ path, was }) => (changed.has(path) || (!was && isFileAt(repo.top, path)) ? [path] : []))
}
