/** Files and folders: whole writes, folders for ralph alone, Node's errors in plain words. */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { RalphError } from '../error.ts'

/** Writes a file whole or not at all: temporary name, fsync, rename, fsync of the folder. */
export function writeWhole(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`
  try {
    const file = openSync(temporary, 'w', 0o600)
    try {
      writeSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
    syncFolder(dirname(path))
  } catch (cause) {
    rmSync(temporary, { force: true })
    throw inPlainWords(cause, path)
  }
}

/** Makes a folder that only its owner may read. */
export function makePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw inPlainWords(cause, path)
  }
}

// Locks of SQLite cannot be trusted on these: NFS, SMB, CIFS, SMB2, 9p, AFS, Ceph, Lustre.
const NETWORK = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x5346414f, 0x00c36400, 0x0bd00bd0])

export function refuseNetworkFolder(path: string): void {
  if (!NETWORK.has(statfsSync(path).type)) return
  throw new RalphError(
    'home-unusable',
    `${path} is on a network file system, where file locks do not hold. Set RALPH_HOME to a folder on a local disk.`,
  )
}

/** Turns what Node says about a full, read-only or missing place into a sentence; anything else stays as it is. */
export function inPlainWords(cause: unknown, path: string): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new RalphError(
        'disk-full',
        `No space is left to write ${path}. Free some, then go on with \`ralph resume\`.`,
        { cause },
      )
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new RalphError(
        'home-unusable',
        `${path} cannot be written. Make it writable, or set RALPH_HOME to another folder.`,
        { cause },
      )
    case 'ENOTDIR':
    case 'EEXIST':
      return new RalphError(
        'home-unusable',
        `${path} must be a folder, but a file is in the way. Move it, or set RALPH_HOME to another folder.`,
        { cause },
      )
    default:
      return cause
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
