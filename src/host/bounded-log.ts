/** What an agent prints in a turn, written to the transcript up to a limit. The rest is counted, not kept. */
import type { TurnEntry, TurnLog } from './transcript.ts'

export type BoundedLog = {
  add(printed: TurnEntry[]): void
  /** Writes down how many bytes were left out, and returns that. Undefined: none. */
  end(): number | undefined
}

type Bounds = {
  /** Absent: no limit. */
  limitMb: number | undefined
  now: () => number
  /** Called when the first piece is left out. */
  onFull(): void
}

export const MEGABYTE = 1_000_000

/** An agent that prints the same line forever is not silent, so only this limit keeps it from filling the disk. */
export function boundLog(log: TurnLog, { limitMb, now, onFull }: Bounds): BoundedLog {
  const limit = (limitMb ?? Number.POSITIVE_INFINITY) * MEGABYTE
  let kept = 0
  let dropped = 0
  return {
    add(printed) {
      if (printed.length === 0) return
      if (kept < limit) {
        kept += log.write(printed)
        return
      }
      if (dropped === 0) {
        log.write([{ at: now(), limitMb: limit / MEGABYTE }])
        onFull()
      }
      for (const entry of printed) dropped += sizeOf(entry)
    },
    end() {
      if (dropped === 0) return undefined
      log.write([{ at: now(), limitMb: limit / MEGABYTE, dropped }])
      return dropped
    },
  }
}

function sizeOf(entry: TurnEntry): number {
  return Buffer.byteLength('out' in entry ? entry.out : 'err' in entry ? entry.err : '')
}
