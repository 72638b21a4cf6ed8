/**
 * Everything a program started: found by group, by a marker in the environment and by a limit; stopped with SIGTERM,
 * then SIGKILL.
 */
import { randomInt } from 'node:crypto'
import { closeSync, existsSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isShortage } from './plain-words.ts'
import { waitForRoom } from './shortage.ts'

const HAS_PROC = existsSync('/proc/self/environ')

/** What identifies the processes of a program. */
export type Trace = {
  /** The id of the leader, the first of them. */
  group: number
  marker: string
  /** Its hard limit of file locks. Absent or 0: it has none. */
  limit?: number
  /** How many processes had ever been started before it. With 0, which means unknown, all processes are looked at. */
  forks: number
  /** Only those that work below this folder. Absent: wherever they are. */
  below?: string | undefined
}

type ProcessTree = Trace & {
  graceMs: number
  /** Whether the leader of the group has ended; without /proc, nothing else is known. */
  exited: () => boolean
}

/**
 * SIGTERM, grace, SIGKILL: to the group and to every process that carries the marker. When it returns, they have ended.
 */
export async function endProcesses(tree: ProcessTree): Promise<void> {
  const { group, graceMs, exited } = tree
  const marked = () => waitForRoom(() => findMarked(tree))
  const alive = async () => (await marked()).length > 0 || (!HAS_PROC && !exited())
  if (await alive()) {
    signalAll([-group, ...(await marked())], 'SIGTERM')
    await until(async () => !(await alive()), graceMs)
    // Repeated until nothing is found: a process may fork between the look and the kill.
    await until(async () => {
      signalAll(await marked(), 'SIGKILL')
      return (await marked()).length === 0
    }, 2_000)
  }
  signalAll([-group], 'SIGKILL')
  // A killed process lives until it is scheduled again, which takes a while on a busy machine.
  await until(() => waitForRoom(async () => !hasMembers(tree)), 2_000)
}

/**
 * Kills what an earlier ralph left of a loop. `below`: only there, since another one may be driving it elsewhere on
 * this machine.
 */
export async function reap(loop: string, below?: string): Promise<void> {
  await endProcesses({
    group: 0,
    marker: `RALPH_LOOP_ID=${loop}`,
    forks: 0,
    below,
    graceMs: 1_000,
    exited: () => true,
  })
}

async function until(holds: () => Promise<boolean>, ms: number): Promise<void> {
  const end = performance.now() + ms
  // Usually the wait is short; only a long one is worth long pauses.
  for (let nap = 1; !(await holds()) && performance.now() < end; nap = Math.min(nap * 2, 10)) await sleep(nap)
}

/** Whether a process in the group is alive; those that left it are only known by the marker. */
function hasMembers({ group, forks }: Trace): boolean {
  if (group === 0) return false
  for (const pid of startedSince(group, forks)) if (isMember(pid, group)) return true
  return false
}

/** A zombie counts as none: it may stay one for as long as its parent likes. */
function isMember(pid: number, group: number): boolean {
  const [state = 'X', , ofGroup] = readProc(`${pid}/stat`)?.split(') ').at(-1)?.split(' ') ?? []
  return Number(ofGroup) === group && !'ZX'.includes(state)
}

/** The living processes that carry the marker or the limit. */
export async function findMarked(trace: Trace): Promise<number[]> {
  const found: number[] = []
  for (const pid of startedSince(trace.group, trace.forks))
    if (pid !== process.pid && (isLimited(pid, trace) || (await carries(pid, trace.marker))) && worksBelow(pid, trace))
      found.push(pid)
  return found
}

function worksBelow(pid: number, { below }: Trace): boolean {
  if (below === undefined) return true
  try {
    return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${below}/`)
  } catch {
    return false // it has ended meanwhile, or belongs to another user
  }
}

// Asking for one id after the other is faster than listing all processes, as long as there are few.
const FEW = 256

/**
 * The processes that can have come from the one with the id `first`. Ids rise, so what a process forks before it ends
 * comes later in the walk: none is missed, whatever ends while we look.
 */
function* startedSince(first: number, forks: number): Generator<number> {
  const last = lastSince(first, forks)
  if (last === undefined) return yield* allProcesses()
  if (last - first < FEW) return yield* upwardsFrom(first)
  yield* listProcesses().filter((pid) => pid >= first && pid <= last)
  yield* upwardsFrom(last + 1)
}

/** The newest id, if ids have certainly not wrapped around since `first` was assigned. */
function lastSince(first: number, forks: number): number | undefined {
  const last = lastProcess()
  const roundOfIds = Number(readProc('sys/kernel/pid_max') ?? 0)
  return forks > 0 && last >= first && countForks() - forks < roundOfIds / 2 ? last : undefined
}

function* upwardsFrom(first: number): Generator<number> {
  let pid = first
  for (let last = lastProcess(); pid <= last; last = lastProcess())
    for (; pid <= last; pid++) if (existsSync(`/proc/${pid}`)) yield pid
}

/** Every process, including those that were started while the list was read. */
function* allProcesses(): Generator<number> {
  const listed = new Set(listProcesses())
  yield* listed
  yield* listProcesses().filter((pid) => !listed.has(pid))
}

/** The ids of the existing processes. */
export function listProcesses(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
  } catch (cause) {
    if (isShortage(cause)) throw cause
    return [] // no /proc on this system: only the group is killed
  }
}

/** How many processes this machine has ever started; 0 if it does not say. */
export function countForks(): number {
  return Number(/^processes (\d+)$/m.exec(readProc('stat') ?? '')?.[1] ?? 0)
}

/** The id that was assigned last; 0 if the system does not say. */
function lastProcess(): number {
  return Number(readProc('sys/kernel/ns_last_pid') ?? 0)
}

/**
 * A number that distinguishes the processes of one program from all others. Linux ignores the limit of file locks, but
 * every process inherits it, whatever it does to its environment, and only root can raise it again. 0: there is no such
 * limit.
 */
export function chooseLimit(): number {
  const own = limitOf('self')
  if (own === undefined) return 0
  const most = own === 'unlimited' ? 2 ** 47 : Number(own) // inside a turn of another ralph it is already limited
  return most > FEWEST ? randomInt(Math.floor(most / 2), most) : 0
}

/** Below this, random numbers would not differ often enough. */
const FEWEST = 2 ** 24

function limitOf(pid: number | 'self'): string | undefined {
  return /^Max file locks\s+\S+\s+(\S+)/m.exec(readProc(`${pid}/limits`) ?? '')?.[1]
}

function isLimited(pid: number, { limit = 0 }: Trace): boolean {
  return limit > 0 && limitOf(pid) === String(limit) && hasMemory(pid)
}

const MOST_LOOKS = 100

/** While a process execs, it has neither environment nor arguments for a moment; that is waited for. */
async function carries(pid: number, marker: string): Promise<boolean> {
  for (let look = 0, bare = 0; look < MOST_LOOKS && bare < 3; look++) {
    const environment = readProc(`${pid}/environ`)
    if (environment) return environment.split('\0').includes(marker)
    if (environment === undefined || !hasMemory(pid)) return false
    if (readProc(`${pid}/cmdline`)) bare += 1
    else await sleep(1)
  }
  return false
}

/** Ended processes and kernel threads have none. */
function hasMemory(pid: number): boolean {
  const fields = readProc(`${pid}/stat`)?.split(') ').at(-1)?.split(' ')
  return Number(fields?.[20] ?? 0) > 0
}

// Hundreds of these files are read at the end of a turn, and readFileSync takes 64 KB of memory for each.
let page: Buffer | undefined

/** Undefined if it is not on this system, has ended, or belongs to another user. */
function readProc(name: string): string | undefined {
  let file: number | undefined
  try {
    file = openSync(`/proc/${name}`, 'r')
    page ??= Buffer.allocUnsafeSlow(16_384)
    let text = ''
    for (let size = readSync(file, page); size > 0; size = readSync(file, page))
      text += page.toString('latin1', 0, size)
    return text
  } catch (cause) {
    if (isShortage(cause)) throw cause
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function signalAll(pids: readonly number[], signal: 'SIGTERM' | 'SIGKILL'): void {
  for (const pid of pids) {
    if (pid === 0) continue // that would be ralph's own group
    try {
      process.kill(pid, signal)
    } catch {
      // it ended by itself
    }
  }
}
