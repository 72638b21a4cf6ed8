import { expect, test } from 'vitest'
import { printCsv } from './csv.ts'

test.each<[text: string, printed: string]>([
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', "'=1+1"],
  ['+cmd|x', "'+cmd|x"],
  ['-2', "'-2"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
])('%j is printed as %j', (text, printed) => {
  expect(printCsv([[text]])).toBe(`${printed}\n`)
})

test('numbers stay numbers, and missing values are empty', () => {
  expect(
    printCsv([
      ['a', 'b', 'c'],
      [1.5, undefined, 0],
    ]),
  ).toBe('a,b,c\n1.5,,0\n')
})
