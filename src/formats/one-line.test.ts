import { expect, test } from 'vitest'
import { cutTo, lastWords, oneLine } from './one-line.ts'

test.each([
  ['a', 'a'],
  [' a\r\n\tb \u2028 c\u0000d\u001be ', 'a b c d e'],
  ['\n', ''],
  ['🦉 é', '🦉 é'],
])('%j is one line: %j', (text, line) => {
  expect(oneLine(text)).toBe(line)
})

test.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['a bcd', 3, 'a…'],
  ['🦉🦉🦉', 3, '🦉🦉🦉'],
  ['🦉🦉🦉🦉', 3, '🦉🦉…'],
])('%s cut to %i characters is %s', (text, most, cut) => {
  expect(cutTo(text, most)).toBe(cut)
})

test.each<[words: string, last: string]>([
  ['Fixing test failures', 'Fixing test failures'],
  ['\n  \n  Fixed it.  \nAll tests pass.', 'Fixed it.'],
  ['a\tb', 'a b'],
  ['', ''],
  ['x'.repeat(200), `${'x'.repeat(119)}…`],
])('quotes the first line of %j with text', (words, last) => {
  expect(lastWords(words)).toBe(last)
})
