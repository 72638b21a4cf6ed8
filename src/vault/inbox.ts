/** The files in Needs_Action: which are complete, and which comes first. */
import { mkdirSync, readdirSync, readFileSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import { parseTaskFile } from '../formats/task-file.ts'
import { isFolder } from '../host/files.ts'
import type { VaultDesk } from './desk.ts'
import { inodeOf, MOST_BYTES, NEEDS_ACTION, taskIdOf } from './place.ts'
import { statOf } from './where.ts'

export type Arrival = {
  file: string
  id: string
  inode: string
  bornAt: number
  isEmpty: boolean
  /** When it was moved or written here. */
  arrivedAt: number
  /** Differs if the file has changed or been replaced. */
  stamp: string
}

export type Inbox = {
  /** In working order. */
  ready: Arrival[]
  /** Those that may still be being written, and since when they are known. */
  growing: { file: string; since: number }[]
  /** When the first of these may be complete. */
  dueMs?: number
}

/** Hidden files, files of editors, systems and running downloads, and ralph's own notes. */
const LEFT_ALONE = /^[.~]|~$|^#.*#$|\.(?:tmp|part|crdownload|swp|bak)$|\.why\.md$|^(?:4913|thumbs\.db|desktop\.ini)$/i

type Seen = { stamp: string; since: number; first: number; mtimeMs: number; priority?: number }

/** `elapsed` is a monotonic clock. */
export function openInbox(
  { vault, settings, now, note }: Pick<VaultDesk, 'vault' | 'settings' | 'now' | 'note'>,
  elapsed: () => number,
): () => Inbox {
  const enoughMs = settings.quietSeconds * 1_000
  const folder = join(vault, NEEDS_ACTION)
  const state = join(vault, settings.stateDir)
  let seen = new Map<string, Seen>()
  return () => {
    const at = elapsed()
    const found = namesIn(folder, state).flatMap((file) => {
      const stat = arrived(folder, file)
      if (!stat && file.includes('\uFFFD'))
        note(`${NEEDS_ACTION}/${file} has a name that is not valid UTF-8. Rename it.`)
      if (!stat) return []
      const [stamp, before] = [stampOf(stat), seen.get(file)]
      const known: Seen =
        before?.stamp === stamp ? before : { stamp, since: at, first: before?.first ?? at, mtimeMs: stat.mtimeMs }
      // Another machine's clock may have written a time in the future.
      const quietMs = Math.max(now() - stat.mtimeMs, at - known.since)
      return [{ file, stat, known, quietMs }]
    })
    seen = new Map(found.map(({ file, known }) => [file, known]))
    const ready = found.filter(({ quietMs }) => quietMs >= enoughMs)
    const growing = found.filter(({ quietMs }) => quietMs < enoughMs)
    for (const { file, stat, known } of ready) known.priority ??= priorityOf(join(folder, file), stat)
    ready.sort(
      (a, b) =>
        (b.known.priority ?? 0) - (a.known.priority ?? 0) ||
        a.known.mtimeMs - b.known.mtimeMs ||
        (a.file < b.file ? -1 : 1),
    )
    return {
      ready: ready.map(({ file, stat, known }) => ({
        file,
        id: taskIdOf(file),
        inode: inodeOf(stat),
        bornAt: stat.birthtimeMs,
        isEmpty: stat.isFile() && stat.size === 0,
        arrivedAt: stat.ctimeMs,
        stamp: known.stamp,
      })),
      growing: growing.map(({ file, known }) => ({ file, since: known.first })),
      ...(growing.length > 0 ? { dueMs: enoughMs - Math.max(...growing.map(({ quietMs }) => quietMs)) } : {}),
    }
  }
}

/** What is there under a name, unless it is ignored or a folder. */
export function arrived(folder: string, file: string): Stats | undefined {
  const stat = LEFT_ALONE.test(file) ? undefined : statOf(join(folder, file))
  return stat?.isDirectory() ? undefined : stat
}

/** Whether it is still there, unchanged. */
export function isUnchanged(vault: string, { file, stamp }: Arrival): boolean {
  const stat = statOf(join(vault, NEEDS_ACTION, file))
  return stat !== undefined && stampOf(stat) === stamp
}

/** Recreates a missing folder, unless the whole vault is unavailable, as on an unmounted disk. */
function namesIn(folder: string, state: string): string[] {
  try {
    if (isFolder(state) && !isFolder(folder)) mkdirSync(folder)
    return readdirSync(folder)
  } catch (cause) {
    throw unreadable(folder, cause)
  }
}

function unreadable(folder: string, cause: unknown): RalphError {
  return new RalphError('file-unusable', `${folder} cannot be read. It must be a readable folder.`, { cause })
}

function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}`
}

const NORMAL = 1

/** Unreadable files are refused when their turn comes. */
function priorityOf(path: string, stat: Stats): number {
  if (!stat.isFile() || stat.size > MOST_BYTES) return NORMAL
  try {
    return parseTaskFile(readFileSync(path, 'utf8'), path).head.priority
  } catch {
    return NORMAL
  }
}
