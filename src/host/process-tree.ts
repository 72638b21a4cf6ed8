/** Everything a program started: found by group and by a marker in the environment, ended politely, then for certain. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const HAS_PROC = existsSync('/proc/self/environ')

/** The processes there are. Those from before a program was started need not be looked at when it has ended. */
export function listProcesses(): ReadonlySet<number> {
  try {
    return new Set(readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : [])))
  } catch {
    return new Set() // no /proc on this system: the group alone is ended
  }
}

export type Tree = {
  group: number
  marker: string
  before: ReadonlySet<number>
  graceMs: number
  /** Whether the leader of the group has ended; where there is no /proc, nothing else is known. */
  exited: () => boolean
}

/** SIGTERM, grace, SIGKILL: to the group and to every process that carries the marker. */
export async function endProcesses({ group, marker, before, graceMs, exited }: Tree): Promise<void> {
  const marked = () => findMarked(marker, before)
  const alive = () => marked().length > 0 || (!HAS_PROC && !exited())
  if (alive()) {
    signalAll([-group, ...marked()], 'SIGTERM')
    await until(() => !alive(), graceMs)
  }
  // Again until nothing is found: a process may fork between the look and the kill.
  await until(() => {
    signalAll(marked(), 'SIGKILL')
    return marked().length === 0
  }, 2_000)
  signalAll([-group], 'SIGKILL')
}

/** Ends what an earlier ralph left of a loop. */
export async function reap(loop: string): Promise<void> {
  await endProcesses({
    group: 0,
    marker: `RALPH_LOOP_ID=${loop}`,
    before: new Set(),
    graceMs: 1_000,
    exited: () => true,
  })
}

async function until(holds: () => boolean, ms: number): Promise<void> {
  const end = performance.now() + ms
  while (!holds() && performance.now() < end) await sleep(10)
}

function findMarked(marker: string, before: ReadonlySet<number>): number[] {
  return [...listProcesses()].filter((pid) => !before.has(pid) && pid !== process.pid && carries(pid, marker))
}

function carries(pid: number, marker: string): boolean {
  try {
    if (!readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(marker)) return false
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1')) // a zombie is gone already
  } catch {
    return false // it ended, or belongs to somebody else
  }
}

function signalAll(pids: readonly number[], signal: 'SIGTERM' | 'SIGKILL'): void {
  for (const pid of pids) {
    if (pid === 0 || pid === 0) continue
    try {
      process.kill(pid, signal)
    } catch {
      // it ended by itself
    }
  }
}
