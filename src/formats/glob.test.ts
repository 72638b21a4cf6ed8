import { expect, test } from 'vitest'
import { globTrouble, isGlob, matchesGlob, matchesPath } from './glob.ts'

test.each<[path: string, glob: string, matches: boolean]>([
  ['a/b.ts', 'a/*.ts', true],
  ['a/b/c.ts', 'a/*.ts', false],
  ['a/b/c.ts', 'a/**/*.ts', true],
  ['a/c.ts', 'a/**/*.ts', true],
  ['a/b/c.ts', '**', true],
  ['db/schema.sql', '*.sql', true],
  ['golden/a/b', 'golden', true],
  ['golden/a/b', './golden/', true],
  ['x/golden/a', 'golden', true],
  ['x/golden/a', '/golden/a', false],
  ['goldenx', 'golden', false],
  ['a.json', '*.{json,yml}', true],
  ['a.yml', '*.{json,yml}', true],
  ['a.toml', '*.{json,yml}', false],
  ['a1', 'a?', true],
  ['a/', 'a?', false],
  ['a.b', 'a[.]b', true],
  ['axb', 'a[!.]b', true],
  ['a+(b)', 'a+(b)', true],
  ['{a', '{a', false],
  ['[z-a]', '[z-a]', true],
  ['anything', '.', true],
])('%s, %s: %s', (path, glob, matches) => {
  expect(matchesGlob(path, glob)).toBe(matches)
})

test('a runner matches whole paths', () => {
  expect(matchesPath('checks/a.js', './checks/*.js')).toBe(true)
  expect(matchesPath('x/checks/a.js', 'checks/*.js')).toBe(false)
  expect(matchesPath('checks/a.js', 'checks')).toBe(false)
})

test('a plain path is not a pattern', () => {
  expect(['a/b.ts', 'a{b}'].map(isGlob)).toEqual([false, false])
  expect(['a*', 'a?', '{a,b}', '[ab]'].map(isGlob)).toEqual([true, true, true, true])
})

test.each<[glob: string, trouble: string | undefined]>([
  ['test/**', undefined],
  ['/etc/**', undefined],
  ['a[.]b/{c,d}', undefined],
  ['app/[id]/x', undefined],
  ['a[]b', undefined],
  ['a}', undefined],
  ['..a/b..', undefined],
  [' ', 'is empty'],
  ['a\0b', 'has a control character'],
  ['[', 'has an unclosed "["'],
  ['a[b/c]', 'has an unclosed "["'],
  ['{a,b', 'has an unclosed "{"'],
  ['[z-a]', 'has a range that ends before it begins'],
  ['../x', 'leaves the folder with ".."'],
])('%j as a guard: %s', (glob, trouble) => {
  expect(globTrouble(glob)).toBe(trouble)
})
