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
  ['idr', 'dir'],
  ['something-else', undefined],
  ['', undefined],
])('"%s" probably means %s', (word, meant) => {
  expect(nearest(word, KNOWN)).toBe(meant)
})

test('nothing is close to nothing', () => {
  expect(nearest('verify', [])).toBeUndefined()
})

test.each([
  ['raplh', 'ralph'],
  ['Ralph', 'ralph'],
  ['agent', 'agents'],
  ['agenst', 'agents'],
  ['graph', undefined],
  ['events', undefined],
])('with one wrong letter, "%s" means %s', (word, meant) => {
  expect(nearest(word, ['ralph', 'agents'], 1)).toBe(meant)
})

test('a very long word is close to nothing, at once', () => {
  const began = performance.now()
  expect(nearest('x'.repeat(1_000_000), KNOWN)).toBeUndefined()
  expect(performance.now() - began).toBeLessThan(1_000)
})
