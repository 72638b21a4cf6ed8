/**
 * Takes back an interrupted step of a checkout from one commit to another: each of its paths becomes what it was, all
 * of them with a few calls of git. A file that the step cannot have written is a person's and stays.
 */
import { copyFileSync, mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import { onDisk, statBelow } from './files.ts'
import { inBytes, must, type Repository, readable } from './git.ts'
import { blockedAt, isFileAt } from './restore-files.ts'

/**
 * Each character of a path is one byte, as git lists them. `theirs`: paths that a person had changed before the step
 * started.
 */
export type Step = { onto: string; commit: string; theirs: readonly string[] }

/** `files`: how many were restored. `left`: files with neither the old nor the new content, which stay as they are. */
export type TakenBack = { files: number; left: string[] }

/** Undefined: there is no such file on that side. */
export type Change = { path: string; was: Entry | undefined; will: Entry | undefined }
type Entry = { mode: string; blob: string }

/** `scratch`: a folder that only ralph uses. */
export async function takeBack(repo: Repository, step: Step, scratch: string): Promise<TakenBack> {
  const changes = await changesLeft(repo, step)
  if (changes.length === 0) return { files: 0, left: [] }
  await putIndexBack(repo, step.onto, changes)
  rmSync(scratch, { recursive: true, force: true }) // including one that was killed
  mkdirSync(scratch, { recursive: true, mode: 0o700 })
  try {
    const { ours, left } = await sortOut(repo, changes, scratch)
    const blocked = await putFilesBack(repo, ours)
    return {
      files: ours.length - blocked.length,
      left: [...left, ...blocked].map(({ path }) => readable(path)),
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Without what was a person's before, or has been committed since. */
async function changesLeft(repo: Repository, { onto, commit, theirs }: Step): Promise<Change[]> {
  const [all, since] = await Promise.all([listChanges(repo, onto, commit), listChanges(repo, onto, 'HEAD')])
  const others = new Set([...theirs, ...since.map(({ path }) => path)])
  return all.filter(({ path }) => !others.has(path))
}

export async function listChanges(repo: Repository, from: string, to: string): Promise<Change[]> {
  const fields = await repo.list(['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', from, to, '--'])
  if (!fields) throw new RalphError('git-failed', `git cannot compare ${from} with ${to} in ${repo.top}.`)
  const changes: Change[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [was = '', will = '', old = '', fresh = ''] = (fields[at] ?? '').slice(1).split(' ')
    changes.push({ path: fields[at + 1] ?? '', was: entryOf(was, old), will: entryOf(will, fresh) })
  }
  return changes
}

function entryOf(mode: string, blob: string): Entry | undefined {
  return mode === '000000' ? undefined : { mode, blob }
}

/** git replaces the index as a whole, so it has all of the step or nothing of it; what else a person staged stays. */
async function putIndexBack(repo: Repository, onto: string, changes: readonly Change[]): Promise<void> {
  const staged = new Set(await repo.list(['diff-index', '--cached', '-z', '--name-only', '--no-renames', onto, '--']))
  const moved = changes.filter(({ path }) => staged.has(path))
  if (moved.length > 0) await setEntries(repo, moved, 'was')
}

async function setEntries(
  repo: Repository,
  changes: readonly Change[],
  side: 'was' | 'will',
  env: Record<string, string> = {},
): Promise<void> {
  const zeros = '0'.repeat((changes[0]?.was ?? changes[0]?.will)?.blob.length ?? 0)
  // Removals go first: a file may be in the place of a folder.
  const lines = [
    ...changes.map(({ path }) => `0 ${zeros}\t${path}`),
    ...changes.flatMap(({ path, [side]: entry }) => (entry ? [`${entry.mode} ${entry.blob} 0\t${path}`] : [])),
  ]
  must(await repo.ask(['update-index', '-z', '--index-info'], { stdin: inBytes([...lines, '']), env }))
}

/** Which of them contain what the step wrote, completely or in part. Unchanged ones are neither. */
async function sortOut(
  repo: Repository,
  changes: readonly Change[],
  scratch: string,
): Promise<{ ours: Change[]; left: Change[] }> {
  const env = { GIT_INDEX_FILE: join(scratch, 'index') }
  copyFileSync(repo.index, env.GIT_INDEX_FILE)
  await setEntries(repo, changes, 'will', env)
  const [notOld, notNew] = await Promise.all([listDiffering(repo), listDiffering(repo, [], env)])
  const [ours, unclear]: [Change[], Change[]] = [[], []]
  for (const change of changes.filter((each) => !isSubmodule(each))) {
    const { path, was, will } = change
    const there = isFileAt(repo.top, path)
    if (was ? !notOld.has(path) : !there) continue
    const isNew = will ? there && !notNew.has(path) : !there
    if (isNew || !there) ours.push(change)
    else unclear.push(change)
  }
  const cutOff = await findCutOff(repo, unclear, scratch)
  return {
    ours: [...ours, ...unclear.filter((change) => cutOff.has(change))],
    left: unclear.filter((change) => !cutOff.has(change)),
  }
}

/** git leaves the files of a submodule alone. */
function isSubmodule({ was, will }: Change): boolean {
  return was?.mode === '160000' || will?.mode === '160000'
}

/**
 * Tracked files that differ, as git sees it: with its filters, line endings and modes. `what`: the index, if not given.
 */
export async function listDiffering(
  repo: Repository,
  what: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Set<string>> {
  const how = ['--name-only', '--no-renames', '--no-ext-diff', '--ignore-submodules=all', '-z']
  const listed = await repo.list(['diff', ...how, ...what, '--'], { env, minutes: 10 })
  if (!listed) throw new RalphError('git-failed', `git cannot list the changes in ${repo.top}.`)
  return new Set(listed)
}

/** git writes a file from start to end: an interrupted write is the first part of one of the two. */
async function findCutOff(repo: Repository, unclear: readonly Change[], scratch: string): Promise<Set<Change>> {
  const found = new Set<Change>()
  if (unclear.length === 0) return found
  for (const [side, env] of [
    ['was', {}],
    ['will', { GIT_INDEX_FILE: join(scratch, 'index') }],
  ] as const) {
    const known = unclear.filter((change) => change[side])
    const prefix = join(scratch, side)
    const stdin = inBytes(known.map(({ path }) => path))
    // What cannot be written is not recognized, and stays.
    await repo.ask(['checkout-index', '--quiet', `--prefix=${prefix}/`, '-z', '--stdin'], { stdin, env, minutes: 10 })
    for (const change of known) if (beginsWith(prefix, repo, change.path)) found.add(change)
  }
  for (const change of unclear) if (statBelow(repo.top, change.path)?.size === 0) found.add(change)
  return found
}

function beginsWith(prefix: string, { top }: Repository, path: string): boolean {
  if (![top, prefix].every((folder) => statBelow(folder, path)?.isFile())) return false
  const [part, whole] = [readFileSync(onDisk(top, path)), readFileSync(onDisk(prefix, path))]
  return part.equals(whole.subarray(0, part.length))
}

/** Returns those that something of a person's is in the way of. */
async function putFilesBack(repo: Repository, ours: readonly Change[]): Promise<Change[]> {
  for (const { path } of ours.filter(({ was, path: at }) => !was && isFileAt(repo.top, at))) {
    rmSync(onDisk(repo.top, path), { force: true })
    removeEmptyFolders(repo, path)
  }
  const back = ours.filter(({ was }) => was)
  for (const { path } of back) if (statBelow(repo.top, path)?.isDirectory()) removeFolder(repo, path)
  const [free, blocked]: [Change[], Change[]] = [[], []]
  for (const change of back) {
    const inTheWay = blockedAt(repo.top, change.path) !== undefined || statBelow(repo.top, change.path)?.isDirectory()
    ;(inTheWay ? blocked : free).push(change)
  }
  if (free.length > 0) {
    const stdin = inBytes(free.map(({ path }) => path))
    must(await repo.ask(['checkout-index', '--force', '-u', '-z', '--stdin'], { stdin, minutes: 10 }))
  }
  return blocked
}

function removeEmptyFolders(repo: Repository, path: string): void {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    if (!removeFolder(repo, path.slice(0, end))) return
}

/** False: it is not empty. */
function removeFolder({ top }: Repository, path: string): boolean {
  try {
    rmdirSync(onDisk(top, path))
    return true
  } catch {
    return false // then it is needed
  }
}
