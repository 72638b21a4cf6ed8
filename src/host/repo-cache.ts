/**
 * A copy of each remote repository that this machine has worked on, so that a task only fetches what is new. It is a
 * bare repository that the worktrees of tasks belong to. Agents can write its configuration, so git uses a pin of it.
 */
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { FETCH } from './fetch-objects.ts'
import { isFolder, makePrivateFolder, readIfThere, realFolder, writeWhole } from './files.ts'
import { askGit, must, type Repository } from './git.ts'
import { clearLocks, clearRemotes, isDamaged, isInTheWay, LOCKED, restoreSettings } from './mirror-repair.ts'
import { isPinned, openPin } from './pin.ts'
import { askRemote, type Calling, type Trouble, unlessInterrupted } from './remote-call.ts'
import { mirrorName, mustBeRepo } from './repo-url.ts'
import { inTurnAlone } from './turn-alone.ts'

/** `commits`: of the refs that were requested by their full names. */
export type Fetched = { kind: 'fetched'; mirror: Repository; commits: ReadonlyMap<string, string> }

/** A mirror that nobody else on this machine fetches into, or creates and removes worktrees of, meanwhile. */
export type HeldMirror = {
  mirror: Repository
  /** Fetches these refs, by their names on the remote; `/*` at the end stands for all below. May replace the mirror. */
  fetch(refs: readonly string[], calling?: Calling): Promise<Fetched | Trouble>
}

export type RepoCache = {
  /** Its mirror, created if it is missing. Fetches nothing. */
  open(repo: string): Promise<Repository>
  fetch(repo: string, refs: readonly string[], calling?: Calling): Promise<Fetched | Trouble>
  /** Recreates a mirror with damaged objects, which `why` may be a sign of. Returns whether it was damaged. */
  repair(repo: string, why: string): Promise<boolean>
  alone<Result>(repo: string, work: (held: HeldMirror) => Promise<Result>, signal?: AbortSignal): Promise<Result>
}

export function openRepoCache(home: string): RepoCache {
  makePrivateFolder(join(home, 'repos'))
  const topOf = (repo: string) => {
    mustBeRepo(repo)
    return join(realFolder(home), 'repos', mirrorName(repo))
  }
  const alone: RepoCache['alone'] = async (repo, work, signal) => {
    const top = topOf(repo)
    return inTurnAlone(
      `${top}.lock`,
      async () => {
        const mirror = await openMirror(top)
        return work({ mirror, fetch: (refs, calling = {}) => fetchInto(mirror, { repo, refs, calling }) })
      },
      signal,
    )
  }
  return {
    alone,
    repair: (repo, why) =>
      alone(repo, async ({ mirror }) => {
        const damaged = await isDamaged(mirror, why)
        if (damaged) await makeMirror(mirror.top)
        return damaged
      }),
    // Reading and pushing does not wait for fetches.
    open: async (repo) => {
      const found = isPinned(pinOf(topOf(repo))) ? await findMirror(topOf(repo)) : undefined // another process may be creating it
      return found ?? alone(repo, async ({ mirror }) => mirror)
    },
    fetch: (repo, refs, calling = {}) =>
      unlessInterrupted(alone(repo, ({ fetch }) => fetch(refs, calling), calling.signal)),
  }
}

/** Where a ref of the remote is found in the mirror. */
export function trackedAs(ref: string): string {
  return ref.replace(/^refs\/heads\//, 'refs/remotes/origin/')
}

async function openMirror(top: string): Promise<Repository> {
  const found = await findMirror(top)
  if (!found) return makeMirror(top)
  await restoreSettings(found, readIfThere(settingsOf(top)))
  return found
}

/** Undefined if it is missing or damaged. */
async function findMirror(top: string): Promise<Repository | undefined> {
  if (!isFolder(join(top, '.git', 'objects'))) return undefined
  const pin = await openPin({ folder: pinOf(top), place: top })
  if ('none' in pin) return undefined
  pin.repair() // it has worktrees, so it is not recreated for a file that can be restored
  return pin.repo
}

function pinOf(top: string): string {
  return `${top}.pin`
}

/** Its original configuration. */
function settingsOf(top: string): string {
  return `${top}.config`
}

/**
 * Appears at once, so that what a kill leaves is never mistaken for a mirror. Other files there are the person's, and
 * stay.
 */
async function makeMirror(top: string): Promise<Repository> {
  const [half, git] = [`${top}.new`, join(top, '.git')]
  for (const path of [half, git, pinOf(top)]) rmSync(path, { recursive: true, force: true })
  for (const path of [half, top]) makePrivateFolder(path)
  // Without the hooks that a person's template may bring, and on a branch that never exists.
  must(await askGit(half, ['init', '--quiet', '--template=', '--initial-branch', 'ralph-mirror']))
  mkdirSync(join(half, '.git', 'worktrees')) // it must be part of the pin
  writeWhole(settingsOf(top), readFileSync(join(half, '.git', 'config'), 'utf8'))
  renameSync(join(half, '.git'), git)
  rmSync(half, { recursive: true })
  const pin = await openPin({ folder: pinOf(top), place: top, fresh: true })
  if ('none' in pin) throw new Error(`${top} was created, but is not a repository: ${pin.none}`)
  return pin.repo
}

type Fetching = { repo: string; refs: readonly string[]; calling: Calling }

async function fetchInto(mirror: Repository, fetching: Fetching): Promise<Fetched | Trouble> {
  const { repo, refs, calling } = fetching
  let into = mirror
  for (let repaired = 0; ; repaired++) {
    const specs = refs.map((ref) => `+${ref}:${trackedAs(ref)}`)
    const answer = await askRemote(into, [...FETCH, '--', repo, ...specs], calling)
    if (answer.ok) return { kind: 'fetched', mirror: into, commits: await readRefs(into, refs) }
    if (repaired === MOST_REPAIRS || calling.signal?.aborted) return answer.trouble
    if (LOCKED.test(answer.says)) await clearLocks(answer.says)
    else if (isInTheWay(answer.says)) await clearRemotes(into)
    else if (await isDamaged(into, answer.says)) into = await makeMirror(into.top)
    else return answer.trouble
  }
}

const MOST_REPAIRS = 3

async function readRefs(mirror: Repository, refs: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const named = refs.filter((ref) => !ref.endsWith('*'))
  const commits = await Promise.all(
    named.map(async (ref) => must(await mirror.ask(['rev-parse', '--verify', trackedAs(ref)]))),
  )
  return new Map(named.map((ref, at) => [ref, commits[at] ?? '']))
}
