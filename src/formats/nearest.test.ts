import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

const KNOWN = ['verify', 'until', 'max-iterations', 'timeout', 'dir']

test.each([
  ['verify', 'verify'],
  ['verfy', 'verify'],
  ['VERIFY', 'verify'],
  ['max-iteration', 'max-iterations'],
  ['maxiterations', 'max-iterations'],
  ['max_iterations', 'max-iterations'],
  ['timout', 'timeout'],
  ['untli', 'until'],
  ['something-else', undefined],
  ['', undefined],
])('"%s" probably means %s', (word, meant) => {
  expect(nearest(word, KNOWN)).toBe(meant)
})

test('of nothing, nothing is near', () => {
  expect(nearest('verify', [])).toBeUndefined()
})
