/** What a rollback does to files besides what git does: nothing that no checkpoint holds is lost. */
import { chmodSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import type { Kept } from './checkpoint.ts'
import { onDisk, statBelow } from './files.ts'
import { inBytes, must, type Repository, readable } from './git.ts'
import type { Snapshots } from './snapshot.ts'

type Place = { repo: Repository; snapshots: Snapshots }

/** Files that only their owner may read stay so: git would make them readable for everybody. */
export function modesOf(top: string, paths: readonly string[]): Map<string, number> {
  const stats = paths.map((path) => [path, statBelow(top, path)] as const)
  return new Map(
    stats.flatMap(([path, stat]) => (stat?.isFile() && (stat.mode & 0o044) === 0 ? [[path, stat.mode & 0o777]] : [])),
  )
}

export function setModes(top: string, modes: ReadonlyMap<string, number>): void {
  for (const [path, mode] of modes) {
    const stat = statBelow(top, path)
    if (stat?.isFile()) chmodSync(onDisk(top, path), (mode & 0o666) | (stat.mode & 0o100))
  }
}

export type Changes = { added: string[]; changed: string[]; removed: string[] }

/** What happens to files on the way from one tree to the other; a file in place of a link counts as added. */
export async function compare(repo: Repository, from: string, to: string): Promise<Changes> {
  const how = ['-r', '-z', '--no-renames', '--name-status']
  const fields = await repo.list(['diff-tree', ...how, from, to, '--'])
  if (!fields)
    throw new RalphError('git-failed', `git cannot compare ${repo.top} with the checkpoint. Nothing was changed.`)
  const changes: Changes = { added: [], changed: [], removed: [] }
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const kind = fields[at] === 'D' ? 'removed' : fields[at] === 'M' ? 'changed' : 'added'
    changes[kind].push(fields[at + 1] ?? '')
  }
  return changes
}

/** Paths on disk that are overwritten although no snapshot holds them: ignored files, or folders of them. */
export function inTheWay(top: string, added: readonly string[]): string[] {
  const found = new Set<string>()
  for (const path of added) {
    const blocked = blockedAt(top, path)
    if (blocked !== undefined || statBelow(top, path)) found.add(blocked ?? path)
  }
  return [...found]
}

/** What is on the way to a path and is not a folder. */
export function blockedAt(top: string, path: string): string | undefined {
  const parts = path.split('/')
  const folders = parts.slice(1).map((_, length) => parts.slice(0, length + 1).join('/'))
  return folders.find((folder) => statBelow(top, folder)?.isDirectory() === false)
}

/** Whether a file or a link is there, and not only behind a link. */
export function isFileAt(top: string, path: string): boolean {
  return blockedAt(top, path) === undefined && statBelow(top, path)?.isDirectory() === false
}

// Includes paths outside a sparse checkout, where an agent may have written files anyway.
export const EVERYWHERE: readonly string[] = ['-c', 'core.sparseCheckout=false']

/** Removes files from disk again that the index marks as not checked out, if they are as in the index. */
export async function hideAgain({ repo, snapshots }: Place, { tree, index }: Kept): Promise<void> {
  const entries = (await repo.list([...EVERYWHERE, 'ls-files', '-t', '-z'])) ?? []
  const differing = await repo.list(['diff-tree', '-r', '-z', '--name-only', tree, `${index}:staged`, '--'])
  if (!differing) return // a merge was not resolved, so nobody can tell
  const changed = new Set(differing)
  const hidden = entries.flatMap((entry) => (entry.startsWith('S ') ? [entry.slice(2)] : []))
  const present = hidden.filter((path) => !changed.has(path) && statBelow(repo.top, path))
  if (present.length === 0) return
  const mark = ['update-index', '--skip-worktree', '-z', '--stdin']
  must(await repo.ask([...EVERYWHERE, ...mark], { env: snapshots.env, stdin: inBytes(present) }))
  for (const path of present) await rm(onDisk(repo.top, path))
}

/** A checkpoint cannot hold a nested repository, so it must not be overwritten, nor written into. */
export function refuseRepositories(
  { top }: Repository,
  { added, changed }: Changes,
  covering: readonly string[],
): void {
  const entered = foldersOn([...added, ...changed]).filter((folder) => statBelow(top, `${folder}/.git`))
  const replaced = covering.filter(
    (path) => statBelow(top, path)?.isDirectory() && holdsRepository(join(top, readable(path))),
  )
  const [found] = [...entered, ...replaced]
  if (found !== undefined)
    throw new RalphError(
      'git-failed',
      `${join(top, readable(found))} contains another git repository, where the checkpoint has something else. Move it away, then try again.`,
    )
}

/** The folders on the way to these paths. */
function foldersOn(paths: readonly string[]): string[] {
  const folders = new Set<string>()
  for (const path of paths)
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) folders.add(path.slice(0, end))
  return [...folders]
}

function holdsRepository(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).some(
    (entry) => entry.name === '.git' || (entry.isDirectory() && holdsRepository(join(folder, entry.name))),
  )
}

/** A file that older rules ignore was ignored then, so it was not part of that state and stays. */
export async function bringBackIgnored(
  { repo, snapshots }: Place,
  from: string,
  removed: readonly string[],
): Promise<void> {
  const free = removed.filter((path) => !statBelow(repo.top, path) && blockedAt(repo.top, path) === undefined)
  if (free.length === 0) return
  const ignored = await repo.list(['check-ignore', '--no-index', '-z', '--stdin'], { stdin: inBytes(free) })
  if (!ignored) return // none of them
  const env = { GIT_INDEX_FILE: `${snapshots.env.GIT_INDEX_FILE}.before` }
  try {
    must(await repo.ask(['read-tree', from], { env }))
    must(await repo.ask(['checkout-index', '--force', '-z', '--stdin'], { env, stdin: inBytes(ignored) }))
  } finally {
    await rm(env.GIT_INDEX_FILE, { force: true })
  }
}
