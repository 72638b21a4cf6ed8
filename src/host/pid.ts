/** Whether a process has ended. */
import { readFileSync } from 'node:fs'

/** Whether there is no process of that number, as far as one can tell. A zombie is none: it has ended, and only its parent has not asked yet. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (cause) {
    return cause instanceof Error && 'code' in cause && cause.code === 'ESRCH'
  }
  try {
    // The name before the state may hold brackets and spaces.
    return /\) [ZX] [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false // only Linux tells the state
  }
}
