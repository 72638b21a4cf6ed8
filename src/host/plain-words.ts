/**
 * What Node and SQLite say about a path that is full, read-only, missing, locked or damaged, as sentences for people.
 */
import { closeSync, openSync } from 'node:fs'
import { RalphError } from '../error.ts'

/** Turns a Node error about a full, read-only or missing path into a sentence; any other error stays as it is. */
export function inPlainWords(cause: unknown, path: string): unknown {
  switch (codeOf(cause)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return noSpaceLeft(path, cause)
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOENT': // Node also says this if folders cannot be created on a read-only disk
      return notWritable(path, cause)
    case 'ENOTDIR':
    case 'EEXIST':
      return new RalphError(
        'home-unusable',
        `${path} must be a folder, but a file is in the way. Move it, or set RALPH_HOME to another folder.`,
        { cause },
      )
    default:
      return isShortage(cause) ? machineLimit(cause, path) : cause
  }
}

/** Turns a SQLite error about a file into a sentence. `code`: its primary result code. */
export function inSqliteWords(cause: unknown, path: string, code: number | undefined): unknown {
  switch (code) {
    case 5:
      return new RalphError(
        'database-locked',
        `${path} is locked by another program. Stop that program, then try again.`,
        {
          cause,
        },
      )
    case 13:
      return noSpaceLeft(path, cause)
    case 8:
      return notWritable(path, cause)
    case 14:
      return whyNotOpened(cause, path)
    case 11:
    case 26:
      return damaged(path, cause)
    case 1:
      // A function of SQLite met something that is not JSON; every other error of this kind is a bug of ours.
      return String(cause).includes('malformed JSON') ? damaged(path, cause) : cause
    default:
      return cause
  }
}

/** `what` was stored, and can no longer be read. */
export function damagedRecord(what: string, why: string, cause?: unknown): RalphError {
  return new RalphError(
    'database-broken',
    `The stored data of ${what} is damaged (${why}). \`ralph doctor --rebuild\` rebuilds the database from the transcripts.`,
    { cause },
  )
}

function damaged(path: string, cause: unknown): RalphError {
  return new RalphError(
    'database-broken',
    `${path} is damaged. \`ralph doctor --rebuild\` sets it aside and rebuilds it from the transcripts.`,
    { cause },
  )
}

/** SQLite does not say why a file cannot be opened. Node does. */
function whyNotOpened(cause: unknown, path: string): unknown {
  try {
    closeSync(openSync(path, 'r+'))
  } catch (found) {
    if (isShortage(found)) return machineLimit(found, path)
  }
  return notWritable(path, cause)
}

const FEWER = 'or run fewer agents in parallel'

/** What a machine or a process can run out of for a while, by Node's error code. */
const SHORTAGES: Readonly<Record<string, readonly [what: string, help: string]>> = {
  EMFILE: ['ralph has too many files open', `Raise the limit (\`ulimit -n 4096\`), ${FEWER}.`],
  ENFILE: ['the machine has too many files open', `Stop other programs, ${FEWER}.`],
  EAGAIN: ['no more processes can be started', `Raise the limit (\`ulimit -u\`), stop other programs, ${FEWER}.`],
  ENOMEM: ['memory is short', `Stop other programs that use memory, ${FEWER}.`],
}

export function isShortage(cause: unknown): boolean {
  return Object.hasOwn(SHORTAGES, String(codeOf(cause)))
}

/** What there is too little of, and what to do. */
export function shortageWords(cause: unknown): readonly [what: string, help: string] {
  return SHORTAGES[String(codeOf(cause))] ?? ['', '']
}

/** For unexpected errors: a machine that is short of something is not a bug of ours. */
export function unlessShortage(cause: unknown): unknown {
  if (!isShortage(cause)) return cause
  const { syscall, path } = cause as NodeJS.ErrnoException // it has one of Node's error codes
  return machineLimit(cause, syscall === 'open' ? path : undefined)
}

/** `path`: what could not be opened. Absent: a program could not be started. */
export function machineLimit(cause: unknown, path?: string): RalphError {
  const [what, help] = shortageWords(cause)
  const failed = path === undefined ? 'A program could not be started' : `${path} could not be opened`
  return new RalphError('machine-limit', `${failed}: ${what}. ${help}`, { cause })
}

/** Node's code of an error, such as ENOENT. */
export function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined
}

function noSpaceLeft(path: string, cause: unknown): RalphError {
  return new RalphError('disk-full', `No space left to write ${path}. Free some space, then run \`ralph resume\`.`, {
    cause,
  })
}

function notWritable(path: string, cause: unknown): RalphError {
  return new RalphError(
    'home-unusable',
    `${path} cannot be written. Make it writable, or set RALPH_HOME to another folder.`,
    { cause },
  )
}

/** The folder of a loop no longer exists. */
export function folderMissing(path: string, cause: unknown): RalphError {
  return new RalphError('home-unusable', `Folder not found: ${path}. Restore it, then run \`ralph resume\`.`, {
    cause,
  })
}
