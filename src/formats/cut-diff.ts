/** Shortens the output of `git diff`: its beginning, one of its files, or as much of every file as fits. */
import { parseDiff } from './parse-diff.ts'

/** `left`: how many lines were cut. */
export type CutDiff = { text: string; left: number }

/** Whole lines from the beginning, as many as fit. */
export function cutDiff(diff: string, limit: number): CutDiff {
  if (diff.length <= limit) return { text: diff, left: 0 }
  const text = diff.slice(0, diff.lastIndexOf('\n', limit - 1) + 1)
  return { text, left: linesIn(diff.slice(text.length)) }
}

/** The same, but from every file, so that one long file, such as a lock file, does not hide the others. */
export function cutFiles(diff: string, limit: number): CutDiff {
  if (diff.length <= limit) return { text: diff, left: 0 }
  const files = filesIn(diff)
  const room = roomFor(
    files.map(({ length }) => length),
    limit,
  )
  const cut = files.map((file) => cutDiff(file, room))
  return { text: cut.map(({ text }) => text).join(''), left: cut.reduce((sum, { left }) => sum + left, 0) }
}

/** The part about one file, by its old or new path. */
export function fileIn(diff: string, path: string): string {
  const isMeant = (file: string) => parseDiff(file).some((one) => one.path === path || one.from === path)
  return filesIn(diff).filter(isMeant).join('')
}

/** Lines of content have a prefix, so none looks like a file header. */
function filesIn(diff: string): string[] {
  return diff.split(/(?<=\n)(?=diff --git )/)
}

/** How much of each fits: short ones stay whole, long ones share the rest. */
function roomFor(lengths: readonly number[], limit: number): number {
  let left = limit
  for (const [at, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (lengths.length - at))
    if (length > share) return share
    left -= length
  }
  return limit
}

function linesIn(text: string): number {
  return text.replace(/\n$/, '').split('\n').length
}
