import fc from 'fast-check'
import { expect, test } from 'vitest'
import { printDiff } from './unified-diff.ts'

test('no change shows nothing', () => {
  expect(printDiff('a\nb\n', 'a\nb\n')).toEqual([])
})

test('shows three lines around a change', () => {
  expect(printDiff('1\n2\n3\n4\n5\n6\n7\n8\n9\n', '1\n2\n3\n4\nnew\n5\n6\n7\n8\n9\n')).toEqual([
    '@@ -2,6 +2,7 @@',
    ' 2',
    ' 3',
    ' 4',
    '+new',
    ' 5',
    ' 6',
    ' 7',
  ])
})

test('a new text and a removed one are all plus and all minus', () => {
  expect(printDiff('', 'a\nb\n')).toEqual(['@@ -0,0 +1,2 @@', '+a', '+b'])
  expect(printDiff('a\n', '')).toEqual(['@@ -1,1 +0,0 @@', '-a'])
})

test('changes far apart are shown apart', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `${index}`)
  const after = lines.with(1, 'x').with(18, 'y')
  const shown = printDiff(`${lines.join('\n')}\n`, `${after.join('\n')}\n`)
  expect(shown.filter((line) => line.startsWith('@@'))).toEqual(['@@ -1,5 +1,5 @@', '@@ -16,5 +16,5 @@'])
})

test('a missing final newline is shown', () => {
  expect(printDiff('a', 'a\n')).toEqual(['@@ -1,1 +1,1 @@', '-a (no newline at end of file)', '+a'])
})

test('applying the diff gives the new text', () => {
  const line = fc.constantFrom('a', 'b', 'c', '')
  fc.assert(
    fc.property(fc.array(line, { maxLength: 7 }), fc.array(line, { maxLength: 7 }), (before, after) => {
      const text = (lines: string[]) => lines.map((one) => `${one}\n`).join('')
      const shown = printDiff(text(before), text(after)).filter((one) => !one.startsWith('@@'))
      const side = (mark: string) => shown.filter((one) => one[0] !== mark).map((one) => one.slice(1))
      expect(after.join('\n')).toContain(side('-').join('\n'))
      expect(before.join('\n')).toContain(side('+').join('\n'))
    }),
  )
})
