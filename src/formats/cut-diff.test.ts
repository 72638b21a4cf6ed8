import { expect, test } from 'vitest'
import { cutDiff, cutFiles, fileIn } from './cut-diff.ts'
import { parseDiff } from './parse-diff.ts'

const file = (path: string, ...lines: string[]): string =>
  [
    `diff --git a/${path} b/${path}`,
    `--- a/${path}`,
    `+++ b/${path}`,
    `@@ -0,0 +1,${lines.length} @@`,
    ...lines.map((line) => `+${line}`),
    '',
  ].join('\n')

const SHORT = file('a.txt', 'one', 'two')
const LONG = file('lock.json', ...Array.from({ length: 500 }, (_, n) => `line ${n}`))

test('a diff that fits is whole', () => {
  for (const cut of [cutDiff, cutFiles]) expect(cut(SHORT, SHORT.length)).toEqual({ text: SHORT, left: 0 })
})

test('is cut after a whole line, and the rest is counted', () => {
  const { text, left } = cutDiff(LONG, 200)
  expect(text.length).toBeLessThanOrEqual(200)
  expect(text.endsWith('\n')).toBe(true)
  expect(text.split('\n').length - 1 + left).toBe(504)
  expect(cutDiff('x'.repeat(10), 5)).toEqual({ text: '', left: 1 })
})

test('a long file does not hide the others', () => {
  const z = file('z.txt', 'three')
  const { text, left } = cutFiles(SHORT + LONG + z, 1_000)
  expect(text.length).toBeLessThanOrEqual(1_000)
  expect(text.startsWith(SHORT)).toBe(true)
  expect(text.endsWith(z)).toBe(true)
  const files = parseDiff(text)
  expect(files.map(({ path }) => path)).toEqual(['a.txt', 'lock.json', 'z.txt'])
  expect((files[1]?.added ?? 0) + left).toBe(500)
})

test('many long files share the space', () => {
  const { text } = cutFiles(LONG + LONG.replaceAll('lock', 'other') + SHORT, 2_000)
  expect(text.length).toBeLessThanOrEqual(2_000)
  const added = parseDiff(text).map((one) => one.added)
  expect(added[0]).toBeGreaterThan(30)
  expect(Math.abs((added[0] ?? 0) - (added[1] ?? 0))).toBeLessThan(5)
})

test('one file is found by its old or new path; content is never a header', () => {
  const odd = file('odd.txt', 'diff --git a/a.txt b/a.txt', 'x\u2028diff --git a/a.txt b/a.txt')
  const moved = 'diff --git a/old.txt b/new.txt\nsimilarity index 100%\nrename from old.txt\nrename to new.txt\n'
  const diff = odd + SHORT + moved
  expect(fileIn(diff, 'a.txt')).toBe(SHORT)
  expect(fileIn(diff, 'odd.txt')).toBe(odd)
  for (const path of ['old.txt', 'new.txt']) expect(fileIn(diff, path)).toBe(moved)
  expect(fileIn(diff, 'b.txt')).toBe('')
})
