/** Which session holds which loop: one small file per session in `RALPH_HOME/armed`, named after its id so that `sh` can find it. */
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Loop } from '../engine/loop.ts'
import { clientAbove } from '../host/client.ts'
import { makePrivateFolder, writeWhole } from '../host/files.ts'
import { bornOf, isGone } from '../host/pid.ts'
import { given } from '../request/given.ts'
import { type Context, type Env, type HostName, isHostName } from './hosts.ts'
import type { Spent } from './spent.ts'

export type Armed = {
  loop: string
  host: HostName
  /** The loop file that users read and edit. Empty: there is none. */
  face: string
  context: Context
  /** Iterations finished when the user last typed something: a host's cap counts from here. */
  since: number
  /** The session works on a vault task. */
  vault?: true
  /** The session's own transcript, if the host names it. */
  record?: string
  /** How far the transcript's tokens have been counted. */
  spent?: Spent
  /** The host's process, if known. */
  pid?: number
  /** When that process started: its number may be reused later. */
  born?: string
  /** The last prompt its agent got, with marks in place of secrets. */
  given?: string
  /** When its agent last got the whole task, and a checksum of the lasting part. Absent: the agent may no longer have it. */
  told?: { sum: string; at: number }
  /** The host's own name for the current turn. */
  turn?: string
  /** The time of the last stop by the host's own clock: hooks installed twice report the same stop twice. */
  stopped?: string
  /** It was released without a prompt, so it has missed everything said since. */
  free?: true
  /** Its next turn has not been requested: the user's words follow the last turn directly and go along with it. */
  due?: true
  /** The user has been shown that the loop is paused. */
  quiet?: true
  /** For a host that repeats its earlier answers: length and hash of the text so far. */
  heard?: { length: number; hash: string }
}

/** Whether an id can be a file name; a session whose id cannot never gets a loop. */
export function isSessionId(id: string): boolean {
  return /^[A-Za-z0-9][\w.-]{0,127}$/.test(id)
}

export function arm(home: string, session: string, armed: Armed): void {
  makePrivateFolder(join(home, 'armed'))
  writeWhole(join(home, 'armed', session), JSON.stringify(armed))
}

/** Reserves a session's file. False when another hook of the same call was faster: a plugin may be installed twice. */
export function reserve(home: string, session: string, { now, began }: { now: () => number; began: number }): boolean {
  const path = join(home, 'armed', session)
  makePrivateFolder(join(home, 'armed'))
  try {
    writeFileSync(path, '', { flag: 'wx', mode: 0o600 })
    return true
  } catch {
    const { size = 0, mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {}
    // Left by a loop that has ended, unless the other hook has just written it; or left by a call that was killed.
    return (size > 0 && mtimeMs < began) || mtimeMs < now() - 10_000
  }
}

export function disarm(home: string, session: string): void {
  rmSync(join(home, 'armed', session), { force: true })
}

/** Keeps what is known about a loop that has ended, for a user who asks about it or wants to continue it. */
export function finish(home: string, session: string): void {
  makePrivateFolder(join(home, FINISHED))
  try {
    renameSync(join(home, 'armed', session), join(home, FINISHED, session))
  } catch {
    disarm(home, session)
  }
}

const FINISHED = 'finished'

/** The last loop that ended in a session without one. */
export function loadFinished(home: string, session: string): Armed | undefined {
  return loadArmed(home, session, FINISHED)
}

/** The user has typed something: counters and repeated answers start over, and notices are shown again. */
export function afterTyping({ quiet: _, heard: __, ...armed }: Armed, { tally }: Loop): Armed {
  return { ...armed, since: tally.iteration }
}

/** Undefined for a session without a loop. An unreadable file is ignored: it must not trap the session. */
export function loadArmed(home: string, session: string, folder = 'armed'): Armed | undefined {
  if (!isSessionId(session)) return undefined
  try {
    const value: unknown = JSON.parse(readFileSync(join(home, folder, session), 'utf8'))
    return isArmed(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The session whose agent takes the turns of a loop. */
export function sessionOf(home: string, loop: string): { session: string; armed: Armed; gone: boolean } | undefined {
  for (const session of sessions(home)) {
    const armed = session.endsWith('.tmp') ? undefined : loadArmed(home, session) // left by a hook that was killed
    if (armed?.loop === loop && armed.context !== 'process')
      return { session, armed, gone: armed.pid !== undefined && isGone(armed.pid, armed.born) }
  }
  return undefined
}

/** The loops of sessions hosted by one of these processes. */
export function armedBy(home: string, pids: ReadonlySet<number>): string[] {
  return sessions(home).flatMap((session) => {
    const { loop, pid, born } = loadArmed(home, session) ?? {}
    return loop !== undefined && pid !== undefined && pids.has(pid) && !isGone(pid, born) ? [loop] : []
  })
}

/** Claude Code names its process to its hooks, as do ralph's plugins for OpenCode and Pi. For others it is the program above the hook, if its name matches. */
export function processOf(host: HostName, env: Env): Pick<Armed, 'pid' | 'born'> {
  const named = Number(env.RALPH_HOST_PID ?? env.CLAUDE_PID)
  const pid = Number.isInteger(named) && named > 0 ? named : clientPid(host)
  return pid === undefined ? {} : { pid, ...given({ born: bornOf(pid) }) }
}

/** Claude Code has one session at a time. Other clients, such as a daemon, may serve several from one process. */
export function isSameClient(before: Armed, { pid }: Pick<Armed, 'pid'>): boolean {
  return before.host === 'claude' && pid !== undefined && before.pid === pid
}

/** Not for Cursor, whose parent process nobody has seen, nor Pi: "pi" is part of many words. */
function clientPid(host: HostName): number | undefined {
  if (host === 'cursor' || host === 'pi') return undefined
  const { pid, argv = [] } = clientAbove() ?? {}
  const [program = '', script = ''] = argv.filter((word) => !word.startsWith('-'))
  const path = RUNTIMES.test(basename(program)) ? script : program
  return basename(path).includes(host) || basename(dirname(path)).includes(host) ? pid : undefined
}

// Their first argument is the program.
const RUNTIMES = /^(node|bun|deno)$/

/** Forgets sessions that never came back to learn how their loop ended. */
export async function forgetOld(
  home: string,
  olderThan: number,
  isOver: (loop: string) => Promise<boolean>,
): Promise<void> {
  for (const session of sessions(home)) {
    const { mtimeMs = 0 } = statSync(join(home, 'armed', session), { throwIfNoEntry: false }) ?? {}
    const armed = loadArmed(home, session)
    if (mtimeMs < olderThan && (!armed || (await isOver(armed.loop)))) disarm(home, session)
  }
  for (const session of sessions(home, FINISHED)) {
    const path = join(home, FINISHED, session)
    const { mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (mtimeMs < olderThan) rmSync(path, { force: true })
  }
}

function sessions(home: string, folder = 'armed'): string[] {
  try {
    return readdirSync(join(home, folder))
  } catch {
    return [] // no session has had a loop yet
  }
}

function isArmed(value: unknown): value is Armed {
  const { loop, host, face } = Object(value) as Readonly<Record<string, unknown>> // whatever was in the file
  return typeof loop === 'string' && isHostName(host) && typeof face === 'string'
}
