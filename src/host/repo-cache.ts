/**
 * A copy of each remote repository that this machine has worked on, so that a task fetches only what is new. It is a repository
 * without files of its own; the work trees of tasks hang on it. Agents can write its configuration, so git goes by a pin of it.
 */
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isFolder, makePrivateFolder, readIfThere, realFolder } from './files.ts'
import { askGit, must, type Repository } from './git.ts'
import { clearLocks, clearRemotes, isDamaged, isInTheWay, LOCKED } from './mirror-repair.ts'
import { openPin } from './pin.ts'
import { askRemote, type Calling, type Trouble } from './remote-call.ts'
import { mirrorName, mustBeRepo } from './repo-url.ts'
import { inTurnAlone } from './turn-alone.ts'

/** `commits`: of the refs that were asked for by their whole names. */
export type Fetched = { kind: 'fetched'; mirror: Repository; commits: ReadonlyMap<string, string> }

export type RepoCache = {
  /** Its mirror, made where it is missing. Nothing is fetched. */
  open(repo: string): Promise<Repository>
  /** Fetches these refs, by their names on the remote; `/*` at the end stands for all below. */
  fetch(repo: string, refs: readonly string[], calling?: Calling): Promise<Fetched | Trouble>
  /** While nobody else on this machine fetches into this mirror, or makes and removes work trees of it. */
  alone<Result>(repo: string, work: (mirror: Repository) => Promise<Result>, signal?: AbortSignal): Promise<Result>
}

export function openRepoCache(home: string): RepoCache {
  makePrivateFolder(join(home, 'repos'))
  const folder = join(realFolder(home), 'repos')
  const alone: RepoCache['alone'] = async (repo, work, signal) => {
    mustBeRepo(repo)
    const top = join(folder, mirrorName(repo))
    return inTurnAlone(`${top}.lock`, async () => work(await openMirror(top)), signal)
  }
  return {
    alone,
    open: (repo) => alone(repo, async (mirror) => mirror),
    fetch: (repo, refs, calling = {}) =>
      alone(repo, (mirror) => fetchInto(mirror, { repo, refs, calling }), calling.signal),
  }
}

/** Where a ref of the remote is found in the mirror. */
export function trackedAs(ref: string): string {
  return ref.replace(/^refs\/heads\//, 'refs/remotes/origin/')
}

async function openMirror(top: string): Promise<Repository> {
  const isWhole = isFolder(join(top, '.git', 'objects')) && isHead(readIfThere(join(top, '.git', 'HEAD')))
  if (!isWhole) await makeMirror(top)
  const pin = await openPin({ folder: `${top}.pin`, place: top })
  if ('none' in pin) return remake(top)
  pin.mend()
  return pin.repo
}

function isHead(text: string | undefined): boolean {
  return text?.startsWith('ref: refs/') === true
}

/** Appears whole, so that what a kill leaves is never taken for a mirror. */
async function makeMirror(top: string): Promise<void> {
  const half = `${top}.new`
  for (const path of [half, top, `${top}.pin`]) rmSync(path, { recursive: true, force: true })
  makePrivateFolder(half)
  // Without the hooks that a person's template may bring, and on a branch that never is.
  must(await askGit(half, ['init', '--quiet', '--template=', '--initial-branch', 'ralph-mirror']))
  mkdirSync(join(half, '.git', 'worktrees')) // it must be part of the pin
  renameSync(half, top)
}

async function remake(top: string): Promise<Repository> {
  await makeMirror(top)
  const pin = await openPin({ folder: `${top}.pin`, place: top, anew: true })
  if ('none' in pin) throw new Error(`${top} was made, but is no repository: ${pin.none}`)
  return pin.repo
}

type Fetching = { repo: string; refs: readonly string[]; calling: Calling }

async function fetchInto(mirror: Repository, fetching: Fetching): Promise<Fetched | Trouble> {
  const { repo, refs, calling } = fetching
  let into = mirror
  for (let mended = 0; ; mended++) {
    const specs = refs.map((ref) => `+${ref}:${trackedAs(ref)}`)
    const told = await askRemote(into, [...FETCH, '--', repo, ...specs], calling)
    if (told.ok) return { kind: 'fetched', mirror: into, commits: await readRefs(into, refs) }
    if (mended === MOST_MENDS || calling.signal?.aborted) return told.trouble
    if (LOCKED.test(told.says)) await clearLocks(told.says)
    else if (isInTheWay(told.says)) await clearRemotes(into)
    else if (await isDamaged(into, told.says)) into = await remake(into.top)
    else return told.trouble
  }
}

const FETCH = [
  'fetch',
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-recurse-submodules',
  '--no-auto-maintenance',
]
const MOST_MENDS = 3

async function readRefs(mirror: Repository, refs: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const named = refs.filter((ref) => !ref.endsWith('*'))
  const commits = await Promise.all(
    named.map(async (ref) => must(await mirror.ask(['rev-parse', '--verify', trackedAs(ref)]))),
  )
  return new Map(named.map((ref, at) => [ref, commits[at] ?? '']))
}
