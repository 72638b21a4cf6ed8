/** Which processes belong to a test, wherever they have gone. */
import { readdirSync, readFileSync } from 'node:fs'

/** The living processes that carry this in their environment, such as `RALPH_LOOP_ID=abc`. */
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

/** Ends every process whose environment has this. One may end by itself meanwhile. */
export function endCarriers(marker: string): void {
  for (const pid of carriers(marker)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It was quicker.
    }
  }
}
