/**
 * An arrival: the one step in which work becomes part of a person's checkout. It is noted before git begins, so that the next
 * ralph can take back what a kill left of it.
 */
import { createHash } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { RalphError } from '../error.ts'
import { clearLocks, listLocks } from './checkout-locks.ts'
import { refOf, underWay } from './checkpoint.ts'
import { makePrivateFolder, readIfThere, writeWhole } from './files.ts'
import { type Answer, type Asking, must, openRepository, type Repository } from './git.ts'
import { lockFile } from './lock.ts'
import { endProcesses } from './process-tree.ts'
import { isFileAt } from './restore-files.ts'
import { listChanges, type Step, type TakenBack, takeBack } from './take-back.ts'

/** The checkout of a person, and the home of the ralph that brings work into it. */
export type Checkout = { home: string; repo: Repository }

/**
 * `branch` is checked out and stands at `onto`; its files become those of `commit`. `work` is part of its history once it has arrived.
 * `again`: the command that does it again.
 */
export type Coming = { loop: string; branch: string; onto: string; commit: string; work: string; again?: string }

/** `locks`: those that were there before. */
type Arrival = Coming & Step & { dir: string; locks: readonly string[] }

/** What a ralph that was killed had left in a checkout. `gone`: the person has gone on, so nothing was touched. */
export type Mended = Pick<Coming, 'loop' | 'branch' | 'again'> & { dir: string } & (TakenBack | { gone: true })

/** Work that git puts aside for the time of a merge would stay there when it is killed. */
export const NO_STASH: readonly string[] = ['-c', 'merge.autoStash=false']

/** `step` is the call of git. Where it fails, or is cut off, the checkout is as before. */
export async function arrive(
  { home, repo }: Checkout,
  coming: Coming,
  step: (asking: Asking) => Promise<Answer>,
): Promise<Answer> {
  const lock = await hold({ home, repo })
  try {
    await settle({ home, repo })
    const [theirs, locks] = await Promise.all([changedBefore(repo, coming), listLocks(repo, coming.branch)])
    must(await repo.ask(['update-ref', keptAs(coming.loop), coming.commit])) // or it may be cleared away
    const arrival: Arrival = { ...coming, theirs, locks, dir: repo.top }
    writeWhole(noteOf({ home, repo }), JSON.stringify(arrival))
    const env = { RALPH_LOOP_ID: coming.loop, ...markOf(repo) }
    const answer = await step({ env, minutes: 10 })
    if (!answer.ok) await takeArrivalBack({ home, repo }, arrival)
    await forget({ home, repo }, coming.loop)
    return answer
  } finally {
    lock.close()
  }
}

/** Puts in order what a ralph that was killed left in a checkout. Undefined: nothing, or somebody alive is at it. */
export async function mendCheckout(checkout: Checkout): Promise<Mended | undefined> {
  if (readIfThere(noteOf(checkout)) === undefined) return undefined
  const lock = lockFile(lockOf(checkout), holder())
  if ('heldBy' in lock) return undefined
  try {
    return await settle(checkout)
  } finally {
    lock.close()
  }
}

/** The same in every checkout that this home knows of. */
export async function mendCheckouts(home: string): Promise<Mended[]> {
  const mended: Mended[] = []
  for (const name of namesIn(folderOf(home))) {
    const arrival = name.endsWith(NOTE) ? readArrival(join(folderOf(home), name)) : undefined
    const repo = arrival && (await openRepository(arrival.dir))
    if (!repo || 'none' in repo) continue // on a disk that is not there now
    const found = await mendCheckout({ home, repo })
    if (found) mended.push(found)
  }
  return mended
}

/** What was found and what was done, for a person. */
export function mendedWords(mended: Mended): string {
  const { loop, branch, dir } = mended
  const cutOff = `A ralph was killed while it brought the work of loop ${loop} into ${branch} in ${dir}.`
  if ('gone' in mended) return `${cutOff} ${branch} is not checked out as it was then, so nothing was touched there.`
  const { files, left } = mended
  const back = files === 1 ? '1 file was put back to how it was' : `${files} files were put back to how they were`
  const done = files === 0 ? 'No file had been changed' : back
  const named = left.length > 5 ? `${left.slice(0, 5).join(', ')} and ${left.length - 5} more` : left.join(', ')
  return `${cutOff} ${done}, and nothing is merged.${named ? ` Changed since then and left as they are: ${named}.` : ''}`
}

async function settle(checkout: Checkout): Promise<Mended | undefined> {
  const { repo } = checkout
  const arrival = readArrival(noteOf(checkout))
  if (!arrival) return undefined
  if ((await standOf(repo, arrival)) === 'open')
    // Only now: a hook that runs once the work has arrived may go on.
    await endProcesses({ group: 0, marker: marker(repo), forks: 0, graceMs: 1_000, exited: () => true })
  const stand = await standOf(repo, arrival)
  const { loop, branch, again, dir } = arrival
  const about = { loop, branch, dir, ...(again === undefined ? {} : { again }) }
  const back = stand === 'open' ? await takeArrivalBack(checkout, arrival) : undefined
  if (stand === 'arrived') await endMerge(repo, arrival)
  await forget(checkout, loop)
  if (stand === 'arrived') return undefined
  return { ...about, ...(back ?? { gone: true }) }
}

/** `open`: the branch is where it was, or further on, without the work. `gone`: another one is checked out, or it was set back. */
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
  const back = await takeBack(repo, arrival, join(folderOf(checkout.home), `${keyOf(repo)}.scratch`))
  await endMerge(repo, arrival)
  return back
}

/** A merge of ours that git still takes for being under way. */
async function endMerge(repo: Repository, { work }: Coming): Promise<void> {
  const merging = await repo.ask(['rev-parse', '--verify', '--quiet', 'MERGE_HEAD'])
  if (merging.ok && merging.out === work) must(await repo.ask(['merge', '--quit']))
  // Git writes this one first, and the other after the first hook.
  if (underWay(repo) === undefined) rmSync(join(repo.gitDir, 'AUTO_MERGE'), { force: true })
}

/** Paths of the step that were not as in `onto` before it: git refuses to write over them, and they are not ours to take back. */
async function changedBefore(repo: Repository, { onto, commit }: Coming): Promise<string[]> {
  const how = ['--name-only', '--no-renames', '--no-ext-diff', '--ignore-submodules=all', '-z']
  const [changes, files, staged, flags] = await Promise.all([
    listChanges(repo, onto, commit),
    repo.list(['diff', ...how, onto, '--']),
    repo.list(['diff', '--cached', ...how, onto, '--']),
    repo.list(['ls-files', '-v', '-z']),
  ])
  // Those that git was told not to look at: whether they were changed nobody can tell.
  const hidden = (flags ?? []).flatMap((line) => (/^[a-zS] /.test(line) ? [line.slice(2)] : []))
  const changed = new Set([...(files ?? []), ...(staged ?? []), ...hidden])
  return changes.flatMap(({ path, was }) => (changed.has(path) || (!was && isFileAt(repo.top, path)) ? [path] : []))
}

// One arrival at a time in a checkout; a hook may take minutes.
const PATIENCE_MS = 10 * 60_000

async function hold(checkout: Checkout): Promise<{ close(): void }> {
  makePrivateFolder(folderOf(checkout.home))
  for (const end = performance.now() + PATIENCE_MS; ; await sleep(100)) {
    const lock = lockFile(lockOf(checkout), holder())
    if (!('heldBy' in lock)) return lock
    if (performance.now() > end)
      throw new RalphError(
        'git-failed',
        `${lock.heldBy} is bringing other work into ${checkout.repo.top}. Try again when that has finished.`,
      )
  }
}

async function forget(checkout: Checkout, loop: string): Promise<void> {
  rmSync(noteOf(checkout), { force: true })
  await checkout.repo.ask(['update-ref', '-d', keptAs(loop)])
}

/** Undefined: there is none, or somebody has written into it. */
function readArrival(file: string): Arrival | undefined {
  const text = readIfThere(file)
  if (text === undefined) return undefined
  try {
    const read = JSON.parse(text) as Record<keyof Arrival, unknown>
    const { dir, loop, branch, onto, commit, work, theirs, locks, again = '' } = read
    const isText = (value: unknown) => typeof value === 'string'
    const whole = [dir, loop, branch, onto, commit, work, again].every(isText)
    const lists = [theirs, locks].every((list) => Array.isArray(list) && list.every(isText))
    return whole && lists ? (read as Arrival) : undefined
  } catch {
    return undefined
  }
}

const NOTE = '.json'

function noteOf({ home, repo }: Checkout): string {
  return join(folderOf(home), `${keyOf(repo)}${NOTE}`)
}

function lockOf({ home, repo }: Checkout): string {
  return join(folderOf(home), `${keyOf(repo)}.db`)
}

function folderOf(home: string): string {
  return join(home, 'arrivals')
}

/** Linked work trees have a git folder each. */
function keyOf({ gitDir }: Repository): string {
  return createHash('sha256').update(gitDir).digest('hex').slice(0, 16)
}

function keptAs(loop: string): string {
  return refOf(loop, 'arriving')
}

/** Lets the next ralph find a git whose ralph was killed. */
function markOf(repo: Repository): Record<string, string> {
  return { RALPH_ARRIVAL: keyOf(repo) }
}

function marker(repo: Repository): string {
  return `RALPH_ARRIVAL=${keyOf(repo)}`
}

function holder(): string {
  return `process ${process.pid} on ${hostname()}`
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // nothing has ever arrived
  }
}
