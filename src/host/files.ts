/** Files and folders: atomic writes, private folders. */
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, isAbsolute, relative, sep } from 'node:path'
import { RalphError } from '../error.ts'
import { secureHome } from './home.ts'
import { codeOf, folderMissing, inPlainWords } from './plain-words.ts'

/** Writes a file completely or not at all. */
export function writeWhole(path: string, content: string | Buffer, mode = 0o600): void {
  try {
    replaceFile(path, content, { temporary: `${path}.${process.pid}.tmp`, mode })
  } catch (cause) {
    throw inPlainWords(cause, path)
  }
}

/** `ready` prepares the new file before it replaces the old one. */
type Replacing = { temporary: string; mode: number; ready?: () => void }

/** Temporary name, fsync, rename, fsync of the folder. */
export function replaceFile(path: string, content: string | Buffer, { temporary, mode, ready }: Replacing): void {
  try {
    rmSync(temporary, { force: true }) // left by a killed process
    const file = openSync(temporary, 'wx', mode)
    try {
      writeFileSync(file, content)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    ready?.()
    renameSync(temporary, path)
    syncFolder(dirname(path))
  } catch (cause) {
    try {
      rmSync(temporary, { force: true })
    } catch {
      // if nothing can be written, nothing is left
    }
    throw cause
  }
}

/** The name under which a broken file is kept. */
export function brokenName(path: string, at: number): string {
  return `${path}.broken-${new Date(at).toISOString().replace(/[:.]/g, '-')}`
}

/** Undefined if there is no such file, or it cannot be read. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined // then it says nothing
  }
}

/** Creates a folder that only its owner may read, with its missing parents. */
export function makePrivateFolder(path: string): void {
  if (isFolder(path)) return
  // One by one: where folders cannot be created, as below /proc, Node's own recursion never ends.
  if (dirname(path) !== path) makePrivateFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (cause) {
    if (!isFolder(path)) throw inPlainWords(cause, path) // another process may have been quicker
  }
}

/** RALPH_HOME: created if missing, and closed to others. `note`: gets what a person should know. */
export function openHome(home: string, note: (text: string) => void = warn): void {
  makePrivateFolder(home)
  const { mode, uid } = statSync(home)
  const who = process.getuid?.()
  if (mode & 0o022 || uid !== who) secureHome(home, note, who)
}

function warn(text: string): void {
  process.emitWarning(text, 'RalphWarning')
}

// SQLite's locks cannot be trusted on these: NFS, SMB, CIFS, SMB2, 9p, AFS, Ceph, Lustre.
const NETWORK = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x5346414f, 0x00c36400, 0x0bd00bd0])

export function refuseNetworkFolder(path: string): void {
  if (!NETWORK.has(statfsSync(path).type)) return
  throw new RalphError(
    'home-unusable',
    `${path} is on a network file system, where file locks are unreliable. Set RALPH_HOME to a folder on a local disk.`,
  )
}

/** The path from a folder to a path below it, with slashes; undefined if it is not below. */
export function pathBelow(folder: string, path: string): string | undefined {
  const way = relative(folder, path)
  const outside = way === '' || way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)
  return outside ? undefined : way.split(sep).join('/')
}

/**
 * Undefined if nothing is there, or below a file. A link is not followed. Each character of `path` stands for one byte,
 * as git lists paths, because a file name need not be valid text.
 */
export function statBelow(folder: string, path: string): Stats | undefined {
  try {
    return lstatSync(onDisk(folder, path), { throwIfNoEntry: false })
  } catch (cause) {
    if (codeOf(cause) === 'ENOTDIR') return undefined
    throw cause
  }
}

/** Such a path, in the form the file system takes. */
export function onDisk(folder: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, 'latin1')])
}

/** A string that changes when a file is written or replaced; empty if there is none. */
export function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}` : ''
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** The real folder, with all links resolved. */
export function realFolder(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (cause) {
    throw folderMissing(path, cause)
  }
}

/** Makes a rename in this folder survive a power cut. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
