/** Finds the processes that belong to a test, wherever they are. */
import { readdirSync, readFileSync } from 'node:fs'

/** The living processes with this in their environment, such as `RALPH_LOOP_ID=abc`. */
export function carriers(marker: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const carries = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(marker)
        return carries && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
      } catch {
        return false // it has ended
      }
    })
}

/** Ends every process with this in its environment. Some may end by themselves meanwhile. */
export function endCarriers(marker: string): void {
  for (const pid of carriers(marker)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It was faster.
    }
  }
}
