/**
 * The linked worktree in which ralph runs experiments: created, found again after a kill, and removed without a trace
 * in the person's repository.
 */
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { chmod, readdir, rm } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { RalphError } from '../error.ts'
import { refOf, WRITER } from './checkpoint.ts'
import { isFolder, makePrivateFolder, refuseNetworkFolder } from './files.ts'
import { askGit, findSite, must, openSite, type Repository } from './git.ts'
import { codeOf } from './plain-words.ts'
import { reap } from './process-tree.ts'
import { inTurn } from './worktree.ts'

/** `home` with links resolved. */
export type Spot = { home: string; loop: string }

/** Everything ralph keeps for the experiments of a loop. */
function folderOf({ home, loop }: Spot): string {
  return join(home, 'proof', loop)
}

/**
 * The name differs from all other worktrees, so that what a killed git left of it in the repository is known to be
 * ralph's.
 */
export function treeOf(spot: Spot): string {
  return join(folderOf(spot), `ralph-proof-${spot.loop}`)
}

/**
 * The worktree of the place, created if it is missing or belongs to another repository. Errors are sentences for
 * people.
 */
export async function ensureLinked(repo: Repository, spot: Spot, signal: AbortSignal): Promise<Repository> {
  const common = commonDir(repo)
  const folder = folderOf(spot)
  makePrivateFolder(folder)
  refuseNetworkFolder(folder)
  if (readNote(spot) !== common) {
    await removeLinked(spot)
    makePrivateFolder(folder)
    // Before anything is created, so that it is found after a kill. An fsync would take longer than all the rest.
    writeFileSync(noteOf(spot), common, { mode: 0o600 })
  }
  const known = await openLinked(repo, spot, common)
  if (known) return known
  return inTurn(repo, async () => {
    await dropTree(spot, common)
    return link(repo, { spot, common, signal })
  })
}

/** Where the repository keeps what its worktrees share. */
function commonDir({ top, commonDir: path }: Repository): string {
  if (isFolder(path)) return realpathSync(path)
  throw new RalphError('git-failed', `The repository of ${top} cannot be used: ${path} is no longer a git repository.`)
}

/** Undefined unless both sides agree: a `.git` that somebody changed could point to the person's own index. */
async function openLinked({ pinned }: Repository, spot: Spot, common: string): Promise<Repository | undefined> {
  const path = treeOf(spot)
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return undefined
  const [entry] = entriesOf(spot, common)
  const found = await findSite(path)
  if ('none' in found || found.top !== path || found.gitDir !== entry) return undefined
  const repo = openSite(pinned === undefined ? found : { ...found, pinned })
  if (!(await repo.ask(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])).ok) return undefined
  rmSync(`${repo.index}.lock`, { force: true }) // left by a killed git; a loop has one driver at a time
  return repo
}

type Linking = { spot: Spot; common: string; signal: AbortSignal }

async function link(repo: Repository, { spot, common, signal }: Linking): Promise<Repository> {
  const commit = await startOf(repo, spot.loop)
  const settings = ['-c', 'worktree.useRelativePaths=false'] // they would change the person's config
  const how = ['worktree', 'add', '--quiet', '--detach', '--no-checkout', '--force', '--force']
  const asking = { env: { RALPH_LOOP_ID: spot.loop }, signal } // so that the next ralph can kill it
  const add = () => repo.ask([...settings, ...how, treeOf(spot), commit], asking)
  let added = await add()
  // Another process that just removed the last worktree took the folder with it.
  if (!added.ok && !signal.aborted) added = await dropTree(spot, common).then(add)
  if (!added.ok) await dropTree(spot, common)
  must(added)
  const linked = await openLinked(repo, spot, common)
  if (!linked) throw new RalphError('git-failed', `git created a worktree at ${treeOf(spot)}, but cannot use it.`)
  return linked
}

/** The history that a check sees there; in a repository without commits ralph creates one that nothing points to. */
async function startOf(repo: Repository, loop: string): Promise<string> {
  for (const name of ['HEAD', refOf(loop, 0)]) {
    const found = await repo.ask(['rev-parse', '--verify', '--quiet', `${name}^{commit}`])
    if (found.ok) return found.out
  }
  const empty = must(await repo.ask(['mktree']))
  return must(await repo.ask(['commit-tree', empty, '-m', 'ralph: no files'], { env: WRITER }))
}

/** Removes the place of a loop, even if its repository is missing. */
export async function removeLinked(spot: Spot): Promise<void> {
  const common = readNote(spot)
  if (common !== undefined) await dropTree(spot, common)
  await removeWhole(folderOf(spot))
}

/** Removes the places of loops that no process is running, with what still runs for them. */
export async function sweepPlaces(home: string, isDriven: (loop: string) => Promise<boolean>): Promise<void> {
  if (!existsSync(join(home, 'proof'))) return
  const real = realpathSync(home)
  for (const entry of readdirSync(join(real, 'proof'), { withFileTypes: true })) {
    const loop = entry.name
    if (!entry.isDirectory() || (await isDriven(loop))) continue // the files are the fingerprints of loops at their start
    await reap(loop)
    await removeLinked({ home: real, loop })
  }
}

/** The files go first: as long as the entry exists, a half-removed worktree is found again. */
async function dropTree(spot: Spot, common: string): Promise<void> {
  await removeWhole(treeOf(spot))
  for (const entry of entriesOf(spot, common)) await removeWhole(entry)
  try {
    rmdirSync(join(common, 'worktrees')) // as git does with the last one
  } catch {
    // others are in it, or it does not exist
  }
}

/** It is removed with the last worktree, which another process may be removing now. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return []
    throw cause
  }
}

/**
 * What the repository knows of this worktree, and of no other. A git that was killed early has not recorded its
 * location yet.
 */
function entriesOf(spot: Spot, common: string): string[] {
  const path = treeOf(spot)
  const folder = join(common, 'worktrees')
  return namesIn(folder).flatMap((name) => {
    const entry = join(folder, name)
    const leadsTo = readIfThere(join(entry, 'gitdir'))
    const ours = leadsTo
      ? resolve(entry, leadsTo) === join(path, '.git')
      : name.startsWith(basename(path)) && /^\d*$/.test(name.slice(basename(path).length))
    return ours ? [entry] : []
  })
}

/** The repository in which the worktree is recorded; if the record is lost, its own link says it. */
function readNote(spot: Spot): string | undefined {
  const link = /^gitdir: (.+)\/worktrees\/[^/]+$/.exec(readIfThere(join(treeOf(spot), '.git')) ?? '')
  return readIfThere(noteOf(spot)) || link?.[1]
}

function noteOf(spot: Spot): string {
  return join(folderOf(spot), 'repository')
}

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined // then it says nothing
  }
}

/** Links are removed, never followed. */
async function removeWhole(path: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 3 }
  try {
    await rm(path, options)
  } catch (cause) {
    if (codeOf(cause) !== 'EACCES') throw cause
    await openFolders(path) // a check may leave folders that cannot be written, such as a cache of Go modules
    await rm(path, options)
  }
}

async function openFolders(path: string): Promise<void> {
  await chmod(path, 0o700)
  for (const entry of await readdir(path, { withFileTypes: true }))
    if (entry.isDirectory()) await openFolders(join(path, entry.name))
}

/** Undefined if this git can do all that a place needs. */
export async function whyTooOld(dir: string): Promise<string | undefined> {
  const answer = await askGit(dir, ['--version'])
  const [, major = 0, minor = 0] = (answer.ok ? /(\d+)\.(\d+)/.exec(answer.out) : undefined) ?? []
  if (Number(major) > OLDEST.major || (Number(major) === OLDEST.major && Number(minor) >= OLDEST.minor))
    return undefined
  return answer.ok
    ? `${answer.out} is too old to run experiments: ${OLDEST.major}.${OLDEST.minor} or later is needed.`
    : 'git was not found.'
}

// It takes settings from the environment, which is how filters are switched off whatever their names are.
const OLDEST = { major: 2, minor: 31 }
