/** What changes in a text, line by line, in the format of `diff -u`. */

/** Empty if nothing changes. A line that only gains or loses its newline counts as changed. */
export function printDiff(before: string, after: string): string[] {
  if (before === after) return []
  const [old, young] = [linesOf(before), linesOf(after)]
  const moves = compare(old, young)
  return hunks(moves).flatMap((hunk) => [headOf(hunk), ...hunk.map(({ mark, line }) => mark + line)])
}

type Move = { mark: ' ' | '-' | '+'; line: string; old: number; young: number }

const CONTEXT = 3
/** Above this, the middle is shown as replaced: nobody reads such a diff, and comparing takes long. */
const MOST_PAIRS = 4_000_000

function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  else lines[lines.length - 1] += ' (no newline at end of file)'
  return lines.map((line) => line.replace(/\r$/, ''))
}

function compare(old: string[], young: string[]): Move[] {
  let head = 0
  while (head < old.length && head < young.length && old[head] === young[head]) head++
  let tail = 0
  const room = Math.min(old.length, young.length) - head
  while (tail < room && old[old.length - 1 - tail] === young[young.length - 1 - tail]) tail++
  const middle = longest(old.slice(head, old.length - tail), young.slice(head, young.length - tail))
  const marks: [Move['mark'], string][] = [
    ...old.slice(0, head).map((line) => [' ', line] as [' ', string]),
    ...middle,
    ...old.slice(old.length - tail).map((line) => [' ', line] as [' ', string]),
  ]
  let [atOld, atYoung] = [0, 0]
  return marks.map(([mark, line]) => {
    const move = { mark, line, old: atOld, young: atYoung }
    if (mark !== '+') atOld++
    if (mark !== '-') atYoung++
    return move
  })
}

/** By the longest common subsequence of lines. */
function longest(old: string[], young: string[]): [Move['mark'], string][] {
  if (old.length * young.length > MOST_PAIRS)
    return [...old.map((line) => ['-', line] as ['-', string]), ...young.map((line) => ['+', line] as ['+', string])]
  const width = young.length + 1
  const common = new Uint32Array((old.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = young.length - 1; j >= 0; j--)
      common[i * width + j] = old[i] === young[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const moves: [Move['mark'], string][] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < young.length) {
    if (i < old.length && j < young.length && old[i] === young[j]) {
      moves.push([' ', old[i++] ?? ''])
      j++
    } else if (j >= young.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) moves.push(['-', old[i++] ?? ''])
    else moves.push(['+', young[j++] ?? ''])
  }
  return moves
}

function hunks(moves: Move[]): Move[][] {
  const found: { from: number; to: number }[] = []
  for (const [index, { mark }] of moves.entries()) {
    if (mark === ' ') continue
    const last = found.at(-1)
    if (last && index - CONTEXT <= last.to) last.to = index + CONTEXT + 1
    else found.push({ from: Math.max(0, index - CONTEXT), to: index + CONTEXT + 1 })
  }
  return found.map(({ from, to }) => moves.slice(from, to))
}

function headOf(hunk: Move[]): string {
  const [first] = hunk
  const range = (start: number, length: number) => `${length === 0 ? start : start + 1},${length}`
  const count = (mark: Move['mark']) => hunk.filter((move) => move.mark !== mark).length
  return `@@ -${range(first?.old ?? 0, count('+'))} +${range(first?.young ?? 0, count('-'))} @@`
}
