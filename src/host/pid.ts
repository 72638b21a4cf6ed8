/** Whether a process has ended. */
import { readFileSync, readlinkSync } from 'node:fs'

/**
 * Whether there is no process of that number, as far as one can tell. A zombie is none: it has ended, and only its parent has
 * not asked yet. `born`: what `bornOf` told of it; then another process that was given the number later is none either.
 */
export function isGone(pid: number, born?: string): boolean {
  const here = born === undefined ? undefined : placeOfNumbers()
  if (here !== undefined && !born?.startsWith(`${here} `)) return false // numbers of another container
  try {
    process.kill(pid, 0)
  } catch (cause) {
    return cause instanceof Error && 'code' in cause && cause.code === 'ESRCH'
  }
  const stat = statOf(pid)
  if (stat === undefined) return false // only Linux tells the state
  return /^[ZX]$/.test(stat[0] ?? '') || (born !== undefined && bornOf(pid) !== born)
}

/** When a process began, and where its number counts. Undefined where the system does not tell. */
export function bornOf(pid: number): string | undefined {
  const [here, began] = [placeOfNumbers(), statOf(pid)?.[STARTED]]
  return here === undefined || began === undefined ? undefined : `${here} ${began}`
}

// Counted from the state, which is the first behind the name.
const STARTED = 19

/** The name before the state may hold brackets and spaces. */
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
