/** Finds the known word that was probably meant. */

/** `most`: how many letters may be wrong; by default, more in a longer word. */
export function nearest(word: string, known: readonly string[], most?: number): string | undefined {
  const mostIn = ({ length }: string) => most ?? Math.max(2, Math.floor(length / 3))
  const [best] = known
    .filter((candidate) => Math.abs(candidate.length - word.length) <= mostIn(candidate)) // do not spend time on very long words
    .map((candidate) => ({ candidate, edits: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits)
  const isAlike = best && best.edits <= mostIn(best.candidate) && best.edits < best.candidate.length
  return isAlike ? best.candidate : undefined
}

/** Letters to add, drop, replace or swap with the next. */
function distance(a: string, b: string): number {
  let earlier: number[] = []
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    ;[earlier, before, row] = [before, row, [i]]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(
        Math.min(
          (before[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          (before[j - 1] ?? 0) + (isSame ? 0 : 1),
          isSwapped ? (earlier[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
  }
  return row[b.length] ?? 0
}
