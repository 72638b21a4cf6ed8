/** The one server of a home: its address, its token, and the lock that shows whether it is alive. */
import { randomBytes } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, readJson } from '../formats/json-file.ts'
import { readIfThere, writeWhole } from './files.ts'
import { isLocked } from './lock.ts'

/** The lock of the one server of a home. */
export const SERVER_LOCK = 'server'

export type ServerFile = { url: string; token: string; pid: number; started_at: string }

/** Only its owner can read it. */
export function writeServerFile(home: string, file: ServerFile): void {
  writeWhole(pathIn(home), `${JSON.stringify(file, null, 2)}\n`)
}

/** Of the server that runs, or that was killed. */
export function readServerFile(home: string): ServerFile | undefined {
  const read = readJson(readIfThere(pathIn(home)) ?? '')
  return 'value' in read && isObject(read.value) ? (read.value as ServerFile) : undefined // only a server writes it
}

/** The address of the running server. Undefined: none is running. */
export function runningServer(home: string): ServerFile | undefined {
  return isLocked(home, SERVER_LOCK) ? readServerFile(home) : undefined
}

export function removeServerFile(home: string): void {
  rmSync(pathIn(home), { force: true })
}

function pathIn(home: string): string {
  return join(home, 'server.json')
}

/** The token of the servers of this home: pages and programs keep it, so it survives a restart. */
export function loadToken(home: string, fresh: boolean): string {
  const path = join(home, 'server-token')
  const known = fresh || isForOthers(path) ? undefined : readIfThere(path)?.trim()
  if (known !== undefined && TOKEN.test(known)) return known
  const token = `ralph_${randomBytes(32).toString('base64url')}` // masked wherever it is printed
  writeWhole(path, `${token}\n`)
  return token
}

const TOKEN = /^ralph_[\w-]{43}$/

/** If others could read it, they may have done so. */
function isForOthers(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0
}
