/** Files of a person outside ralph's home: read as they are, replaced whole, with errors in plain words. */
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { RalphError } from '../error.ts'
import { replaceFile } from './files.ts'
import { codeOf } from './plain-words.ts'

/** `target` is the file itself, if `path` is or goes through a link. */
export type PersonFile = { bytes: Buffer; target: string }

/** Undefined if nothing is there. */
export function readPersonFile(path: string): PersonFile | undefined {
  const stat = statOf(path)
  if (!stat) return undefined
  if (stat.isDirectory()) throw unusable(`${path} must be a file, but it is a folder. Move it away, then try again.`)
  if (!stat.isFile()) throw unusable(`${path} is not a regular file. Move it away, then try again.`)
  try {
    return { bytes: readFileSync(path), target: realpathSync(path) }
  } catch (cause) {
    throw inWords(cause, path, 'read')
  }
}

/** Where a write to `path` ends up, even if it does not exist yet. */
export function targetOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(targetOf(dirname(path)), basename(path)) // it is created later
  }
}

/** The missing folders above a file, the highest first. */
export function missingFolders(path: string): string[] {
  const folder = dirname(path)
  if (folder === path || isThere(folder)) return []
  return [...missingFolders(folder), folder]
}

/**
 * One rename, through a link to its target; permissions and owner stay. The temporary file always has the same name, so
 * that the next process uses up what a killed one left.
 */
export function replacePersonFile(path: string, bytes: Buffer): void {
  const stat = statOf(path)
  const target = targetOf(path)
  const temporary = temporaryOf(target)
  try {
    if (stat) accessSync(target, constants.W_OK) // a rename would ignore that it is read-only
    for (const folder of missingFolders(target)) makeFolder(folder)
    const ready = () => stat && keepRights(temporary, stat)
    replaceFile(target, bytes, { temporary, mode: 0o644, ready })
  } catch (cause) {
    throw inWords(cause, path, 'written')
  }
}

export function removePersonFile(path: string): void {
  try {
    const target = targetOf(path)
    rmSync(temporaryOf(target), { force: true })
    rmSync(target, { force: true })
    // A link that pointed to it would be broken.
    rmSync(path, { force: true })
  } catch (cause) {
    throw inWords(cause, path, 'removed')
  }
}

/** Makes it executable for everybody who can read it. False if it already was. */
export function makeProgram(path: string): boolean {
  const mode = statOf(path)?.mode ?? 0
  const wanted = mode | ((mode & 0o444) >> 2)
  if (wanted === mode) return false
  try {
    chmodSync(path, wanted & 0o7777)
    return true
  } catch (cause) {
    throw inWords(cause, path, 'written')
  }
}

/** Whatever a killed process left next to the file. */
export function removeTemporary(path: string): void {
  tryTo(() => rmSync(temporaryOf(targetOf(path)), { force: true }))
}

/** Only if it is empty. */
export function removeEmptyFolder(path: string): void {
  tryTo(() => rmdirSync(path))
}

function temporaryOf(target: string): string {
  return join(dirname(target), `.${basename(target)}.ralph-tmp`)
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch (cause) {
    if (!isThere(path)) throw cause
  }
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false // below a file, or in a folder we may not see
  }
}

function statOf(path: string): Stats | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (!stat && lstatSync(path, { throwIfNoEntry: false }))
      throw unusable(`${path} is a broken symbolic link. Fix it, then try again.`)
    return stat
  } catch (cause) {
    throw inWords(cause, path, 'read')
  }
}

function keepRights(temporary: string, { mode, uid, gid }: Stats): void {
  chmodSync(temporary, mode & 0o7777)
  tryTo(() => chownSync(temporary, uid, gid)) // only root can; others own the file anyway
}

function tryTo(act: () => void): void {
  try {
    act()
  } catch {
    // nice to have, but nothing depends on it
  }
}

function unusable(message: string, cause?: unknown): RalphError {
  return new RalphError('file-unusable', message, { cause })
}

function inWords(cause: unknown, path: string, what: 'read' | 'written' | 'removed'): unknown {
  switch (codeOf(cause)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new RalphError(
        'disk-full',
        `No space left to write ${path}. The file is unchanged; free some space, then try again.`,
        {
          cause,
        },
      )
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return unusable(`${path} cannot be ${what}: permission denied. Fix its permissions, then try again.`, cause)
    case 'ENOTDIR':
    case 'EEXIST':
      return unusable(
        `${path} cannot be ${what}: a file is in the place of a folder. Move it away, then try again.`,
        cause,
      )
    case 'ENOENT':
      return unusable(`${path} cannot be ${what}: its folder cannot be created. Create it, then try again.`, cause)
    case 'ELOOP':
      return unusable(`${path} cannot be ${what}: its symbolic links form a loop. Fix them, then try again.`, cause)
    default:
      return cause
  }
}
