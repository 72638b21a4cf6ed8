/** The face of a loop inside a session: a file that users read and edit, and that ralph keeps up to date. */
import {
  accessSync,
  constants,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { iterationLimit } from '../engine/limits.ts'
import { ended, type Loop, type Order } from '../engine/loop.ts'
import { type LoopFile, parseLoopFile, printLoopFile } from '../formats/loop-file.ts'
import { brokenName, pathBelow, writeWhole } from '../host/files.ts'
import { SIGNAL } from '../request/defaults.ts'
import { opened } from './answer.ts'
import { type Desk, loadKnown } from './desk.ts'
import { HOSTS, type HostName } from './hosts.ts'

const FACE = 'ralph-loop.local.md'

/** What happened to a face since ralph wrote it. `strange`: it is no longer a plain file of ours, and why. */
export type Found =
  | { kind: 'file'; file: LoopFile }
  | { kind: 'gone' }
  | { kind: 'broken' }
  | { kind: 'strange'; why: string }

export function readFace(path: string): Found {
  const stat = statOf(path)
  if (!stat) return { kind: 'gone' }
  if (stat.isSymbolicLink()) return { kind: 'strange', why: 'it is now a symbolic link' }
  if (!stat.isFile()) return { kind: 'strange', why: 'it is not a regular file' }
  if (process.getuid && stat.uid !== process.getuid()) return { kind: 'strange', why: 'it belongs to another user' }
  try {
    const file = stat.size > LARGEST ? undefined : parseLoopFile(readFileSync(path, 'utf8'))
    return file ? { kind: 'file', file } : { kind: 'broken' }
  } catch {
    return { kind: 'strange', why: 'it cannot be read' }
  }
}

const LARGEST = 8 << 20

/** `lstat` throws when a parent of the path is a file. */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** The usual file, unless another loop uses it or it is not ralph's to overwrite. Empty if none can be written. */
export async function chooseFace(
  desk: Pick<Desk, 'store'>,
  dir: string,
  { host, session }: { host: HostName; session: string },
): Promise<string> {
  const folder = join(dir, HOSTS[host].folder)
  if (!canHaveFace(dir, join(folder, FACE))) return ''
  const usual = join(folder, FACE)
  const found = readFace(usual)
  if (found.kind === 'gone') return usual
  const own = join(folder, `ralph-loop.${session}.local.md`)
  if (found.kind !== 'file' || !found.file.loopId) return own
  const other = await loadKnown(desk, found.file.loopId)
  return other && (ended(other) || found.file.sessionId === session) ? usual : own
}

/** False if none can be written: its folder cannot be created, or is outside the project. */
export function canHaveFace(dir: string, path: string): boolean {
  try {
    mkdirSync(dirname(path), { recursive: true })
    accessSync(dirname(path), constants.W_OK)
    return pathBelow(realpathSync(dir), join(realpathSync(dirname(path)), basename(path))) !== undefined
  } catch {
    return false
  }
}

/** Writes the current state. */
export function writeFace(path: string, { loop, session, home }: { loop: Loop; session: string; home: string }): void {
  if (!path) return
  writeWhole(path, printLoopFile(faceOf(loop, session, home)), 0o644)
}

/** The file is the user's: it has the prompt as they wrote it. */
function faceOf({ id, spec, tally, next }: Loop, session: string, home: string): LoopFile {
  return {
    active: next.kind !== 'wait' || next.why !== 'paused',
    iteration: next.kind === 'turn' ? next.iteration : tally.iteration,
    maxIterations: iterationLimit(spec.limits, tally),
    promise: spec.promise,
    startedAt: new Date(tally.startedAt).toISOString().replace(/\.\d+Z$/, 'Z'),
    sessionId: session,
    loopId: id,
    prompt: opened(home, spec.prompt, spec.prompt),
  }
}

export function removeFace(path: string): void {
  if (!path || readFace(path).kind !== 'file') return
  rmSync(path, { force: true })
  try {
    rmdirSync(dirname(path))
  } catch {
    // not empty
  }
}

/** Renames a file that a user or an agent broke, so that nothing is lost. Returns its new name. */
export function putAside(path: string, at: number): string {
  const aside = brokenName(path, at)
  renameSync(path, aside)
  return basename(aside)
}

/** What the user's edits ask for. An edited counter means nothing; only a command resumes. */
export function ordersIn(file: LoopFile, { spec, tally, next }: Loop, home: string): Order[] {
  const paused = next.kind === 'wait' && next.why === 'paused'
  const edited = {
    ...(file.prompt.trim() === opened(home, spec.prompt, spec.prompt).trim() ? {} : { prompt: file.prompt }),
    ...(file.promise === spec.promise ? {} : { promise: file.promise }),
    // A loop that loses its promise needs another way to be claimed.
    ...(file.promise || !spec.promise || spec.signals.length > 0 ? {} : { signals: [SIGNAL] }),
  }
  return [
    ...(file.maxIterations === iterationLimit(spec.limits, tally)
      ? []
      : [{ kind: 'limits', limits: { iterations: file.maxIterations } } as const]),
    ...(Object.keys(edited).length > 0 ? [{ kind: 'edit', ...edited } as const] : []),
    ...(file.active || paused ? [] : [{ kind: 'pause' } as const]),
  ]
}

/** Its path, as shown to the user. */
export function nameOf(dir: string, path: string): string {
  return relative(dir, path)
}
