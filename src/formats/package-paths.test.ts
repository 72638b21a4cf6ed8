import { expect, test } from 'vitest'
import { repointedPaths } from './package-paths.ts'

const between = (before: object, after: object) =>
  repointedPaths(JSON.stringify({ name: 'sums', ...before }), JSON.stringify({ name: 'sums', ...after })).map(
    ({ key, imported }) => `${key.join(' ')}: ${imported.join(' ')}`,
  )

test('a changed path is named as sources import it', () => {
  expect(between({ imports: { '#a': './a.js', '#b/*': './b/*.js' } }, { imports: { '#b/*': './c/*.js' } })).toEqual([
    'imports #a: #a',
    'imports #b/*: #b/',
  ])
  expect(between({ exports: { '.': './a.js', './b': './b.js' } }, { exports: { '.': './b.js' } })).toEqual([
    'exports .: sums',
    'exports ./b: sums/b',
  ])
  expect(between({ exports: { import: './a.js' } }, { exports: { import: './b.js' } })).toEqual(['exports: sums'])
  expect(between({ main: 'a.js' }, { main: 'b.js' })).toHaveLength(1)
})

test('a new path changes nothing', () => {
  const before = { imports: { '#a': './a.js' }, exports: { '.': './a.js' } }
  const after = { imports: { '#a': './a.js', '#b': './b.js' }, exports: { '.': './a.js', './b': './b.js' } }
  expect(between(before, after)).toEqual([])
  expect(repointedPaths('{', '{}')).toEqual([])
})
