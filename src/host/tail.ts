/** The end of a file, whatever its size. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** Empty if it cannot be read. */
export function tailOf(path: string, most: number): string {
  try {
    const file = openSync(path, 'r')
    try {
      const { size } = fstatSync(file)
      const buffer = Buffer.alloc(Math.min(most, size))
      readSync(file, buffer, 0, buffer.length, size - buffer.length)
      return buffer.toString('utf8')
    } finally {
      closeSync(file)
    }
  } catch {
    return '' // it does not exist yet
  }
}
