/** What was added to a file of lines since it was last read, whatever its size. */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'

/** A longer line is passed over. */
const CHUNK = 1 << 22

/**
 * Gives `take` every whole line behind `from` that has `marker` in it, and returns where to go on the next time.
 * Undefined where there is no such file. Of a file that was written again from its beginning nothing is taken.
 */
export function newLines(
  path: string,
  { from, marker }: { from: number; marker: string },
  take: (line: string) => void,
): number | undefined {
  try {
    const file = openSync(path, 'r')
    try {
      const { size } = fstatSync(file)
      if (size <= from) return size
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK, size - from))
      let at = from
      while (at < size) {
        const chunk = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, at))
        const end = chunk.lastIndexOf(10) + 1
        takeFrom(chunk.subarray(0, end), marker, take)
        if (end === 0 && chunk.length < CHUNK) break // the last line is not whole yet
        at += end || chunk.length
      }
      return at
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
}

function takeFrom(lines: Buffer, marker: string, take: (line: string) => void): void {
  for (let hit = lines.indexOf(marker); hit >= 0; ) {
    const end = lines.indexOf(10, hit)
    take(lines.toString('utf8', lines.lastIndexOf(10, hit) + 1, end))
    hit = lines.indexOf(marker, end)
  }
}

/** 0 for a file that is not there yet, or not for us to see. */
export function sizeOf(path: string): number {
  try {
    return statSync(path).size
  } catch {
    return 0
  }
}
