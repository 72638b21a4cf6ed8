/** Which session holds which loop: one small file a session in `RALPH_HOME/armed`, named by its id, so that `sh` can find it. */
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
  /** The file that people read and edit. Empty: there is none. */
  face: string
  context: Context
  /** Iterations that were finished when a person last typed something: what a host's cap counts from. */
  since: number
  /** It works on a task of a vault. */
  vault?: true
  /** The session's own record, where the host names it. */
  record?: string
  /** Up to where the record's tokens are counted. */
  spent?: Spent
  /** The process of the host, where it is known. */
  pid?: number
  /** When that began: its number may be given to another one later. */
  born?: string
  /** What its agent was told last, with the marks of secrets. */
  given?: string
  /** When its agent was last told all of its task, and the sum of what lasts of that. Absent: it may not have it any more. */
  told?: { sum: string; at: number }
  /** The host's own name for the turn that its agent is at. */
  turn?: string
  /** When the last stop was, by the host's own clock: hooks that are set up twice tell the same one twice. */
  stopped?: string
  /** It was let go without a prompt: what is said meanwhile it has not heard. */
  free?: true
  /** Its next turn was not asked for: a person's words come right behind the last one, and go with it. */
  due?: true
  /** The person has been told that the loop rests. */
  quiet?: true
  /** What a host that repeats its earlier answers has said so far: its length and its hash. */
  heard?: { length: number; hash: string }
}

/** Whether an id can be a file name; one that cannot never gets a loop. */
export function isSessionId(id: string): boolean {
  return /^[A-Za-z0-9][\w.-]{0,127}$/.test(id)
}

export function arm(home: string, session: string, armed: Armed): void {
  makePrivateFolder(join(home, 'armed'))
  writeWhole(join(home, 'armed', session), JSON.stringify(armed))
}

/** Takes the place of a session's file. False when another hook of the same call was quicker: a plugin may be installed twice. */
export function reserve(home: string, session: string, { now, began }: { now: () => number; began: number }): boolean {
  const path = join(home, 'armed', session)
  makePrivateFolder(join(home, 'armed'))
  try {
    writeFileSync(path, '', { flag: 'wx', mode: 0o600 })
    return true
  } catch {
    const { size = 0, mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {}
    // Of a loop that is over, unless the other hook has just written it; or of a call that was killed.
    return (size > 0 && mtimeMs < began) || mtimeMs < now() - 10_000
  }
}

export function disarm(home: string, session: string): void {
  rmSync(join(home, 'armed', session), { force: true })
}

/** Its loop has ended: what is known of it stays for the person who asks about it, or wants to go on. */
export function finish(home: string, session: string): void {
  makePrivateFolder(join(home, FINISHED))
  try {
    renameSync(join(home, 'armed', session), join(home, FINISHED, session))
  } catch {
    disarm(home, session)
  }
}

const FINISHED = 'finished'

/** The loop that last ended in a session that has none now. */
export function loadFinished(home: string, session: string): Armed | undefined {
  return loadArmed(home, session, FINISHED)
}

/** A person has typed something: what is counted and heard begins anew, and they are told things again. */
export function typedAt({ quiet: _, heard: __, ...armed }: Armed, { tally }: Loop): Armed {
  return { ...armed, since: tally.iteration }
}

/** Undefined for a session without a loop. A file that cannot be read is left alone: it traps nobody. */
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
    const armed = session.endsWith('.tmp') ? undefined : loadArmed(home, session) // of a hook that was killed
    if (armed?.loop === loop && armed.context !== 'process')
      return { session, armed, gone: armed.pid !== undefined && isGone(armed.pid, armed.born) }
  }
  return undefined
}

/** The loops of sessions whose host is one of these processes. */
export function armedBy(home: string, pids: ReadonlySet<number>): string[] {
  return sessions(home).flatMap((session) => {
    const { loop, pid, born } = loadArmed(home, session) ?? {}
    return loop !== undefined && pid !== undefined && pids.has(pid) && !isGone(pid, born) ? [loop] : []
  })
}

/** Claude Code tells its hooks which process it is, and so do ralph's plugins in OpenCode and Pi. Others are the program above the hook, if that goes by their name. */
export function processOf(host: HostName, env: Env): Pick<Armed, 'pid' | 'born'> {
  const named = Number(env.RALPH_HOST_PID ?? env.CLAUDE_PID)
  const pid = Number.isInteger(named) && named > 0 ? named : clientPid(host)
  return pid === undefined ? {} : { pid, ...given({ born: bornOf(pid) }) }
}

/** Claude Code has one session at a time. The process of another client, such as a daemon, may serve several. */
export function isSameClient(before: Armed, { pid }: Pick<Armed, 'pid'>): boolean {
  return before.host === 'claude' && pid !== undefined && before.pid === pid
}

/** What is above a hook of Cursor nobody has seen, and "pi" is a part of many words. */
function clientPid(host: HostName): number | undefined {
  if (host === 'cursor' || host === 'pi') return undefined
  const { pid, argv = [] } = clientAbove() ?? {}
  const [program = '', script = ''] = argv.filter((word) => !word.startsWith('-'))
  const path = RUNTIMES.test(basename(program)) ? script : program
  return basename(path).includes(host) || basename(dirname(path)).includes(host) ? pid : undefined
}

// Their first argument is the program.
const RUNTIMES = /^(node|bun|deno)$/

/** Sessions that never came back to hear how their loop ended are forgotten. */
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
    return [] // no session ever had a loop
  }
}

function isArmed(value: unknown): value is Armed {
  const { loop, host, face } = Object(value) as Readonly<Record<string, unknown>> // whatever was in the file
  return typeof loop === 'string' && isHostName(host) && typeof face === 'string'
}
