/** The lines that were added to a file since it was last read, whatever its size. */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'

/** A longer line is skipped. */
const CHUNK = 1 << 22

/**
 * Passes every complete line after `from` that contains `marker` to `take`, and returns where to continue next time.
 * Undefined if there is no such file. Takes nothing from a file that was rewritten from its start.
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
        if (end === 0 && chunk.length < CHUNK) break // the last line is not complete yet
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

/** 0 for a file that does not exist yet, or is not readable. */
export function sizeOf(path: string): number {
  try {
    return statSync(path).size
  } catch {
    return 0
  }
}
