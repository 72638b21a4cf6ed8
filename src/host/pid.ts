/** Whether a process has ended. */
import { readFileSync, readlinkSync } from 'node:fs'

/**
 * Whether there is no process with that id, as far as one can tell. A zombie counts as none: it has ended, and only its
 * parent has not reaped it yet. `born`: what `bornOf` returned for it; then another process that got the id later does
 * not count either.
 */
export function isGone(pid: number, born?: string): boolean {
  const here = born === undefined ? undefined : placeOfNumbers()
  if (here !== undefined && !born?.startsWith(`${here} `)) return false // ids of another container
  try {
    process.kill(pid, 0)
  } catch (cause) {
    return cause instanceof Error && 'code' in cause && cause.code === 'ESRCH'
  }
  const stat = statOf(pid)
  if (stat === undefined) return false // only Linux reports the state
  return /^[ZX]$/.test(stat[0] ?? '') || (born !== undefined && bornOf(pid) !== born)
}

/** When a process started, and in which namespace its id counts. Undefined if the system does not say. */
export function bornOf(pid: number): string | undefined {
  const [here, began] = [placeOfNumbers(), statOf(pid)?.[STARTED]]
  return here === undefined || began === undefined ? undefined : `${here} ${began}`
}

// Counted from the state, which is the first field after the name.
const STARTED = 19

/** The name before the state may contain brackets and spaces. */
function statOf(pid: number): string[] | undefined {
  try {
    return /\) ([^)]*)$/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]?.split(' ')
  } catch {
    return undefined
  }
}

function placeOfNumbers(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return undefined
  }
}
