import { expect, test } from 'vitest'
import { cellsOf } from './cells.ts'

test.each<[what: string, text: string, cells: number]>([
  ['nothing', '', 0],
  ['letters', 'añb', 3],
  ['signs and arrows', '€ ≤ ✓ → ● █', 11],
  ['East Asian letters', '日本', 4],
  ['an emoji', '🚀', 2],
  ['a sign that some terminals draw as an emoji', '⚠', 2],
  ['a digit that is made an emoji', '1\ufe0f', 2],
  ['a letter and its accent', 'e\u0301', 1],
  ['characters of unknown width', '\u{1d49c}', 2],
])('%s', (_, text, cells) => {
  expect(cellsOf(text)).toBe(cells)
})
