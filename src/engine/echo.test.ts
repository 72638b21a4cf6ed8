import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { notEchoed } from './echo.ts'

function left(spoken: readonly string[], asked: readonly string[]): string[] {
  return spoken.filter(notEchoed(spoken, asked))
}

test.each<[what: string, spoken: string, asked: string, left: string]>([
  ['a whole prompt', 'a b c Done.', 'a b c', 'Done.'],
  ['a part of it', 'b c d Done.', 'a b c d e', 'Done.'],
  ['the prompt twice', 'a b c a b c Done.', 'a b c', 'Done.'],
  ['two lines of three', 'a b Done.', 'a b c', 'a b Done.'],
  ['a short prompt', 'a Done. a', 'a', 'Done.'],
  ['lines in another order', 'c b a Done.', 'a b c', 'c b a Done.'],
  ['a part with a repeated line', 'x a x b x c Done.', 'x a x b x c', 'Done.'],
  ['the longer of two parts', 'a b c d Done.', 'a b c x a b c d', 'Done.'],
])('%s is left out', (_, spoken, asked, rest) => {
  expect(left(spoken.split(' '), asked.split(' '))).toEqual(rest.split(' '))
})

test('blank lines within an echo belong to it', () => {
  expect(left(['', 'a', '', 'b', 'c', '', 'Done.'], ['a', 'b', 'c'])).toEqual(['', '', 'Done.'])
})

/** A naive version: tries every place of the prompt at every line. */
function leftPlainly(spoken: readonly string[], asked: readonly string[]): string[] {
  const kept: string[] = []
  const runAt = (at: number) => Math.max(0, ...asked.map((_, place) => lengthOf(at, place)))
  const lengthOf = (at: number, place: number): number =>
    at < spoken.length && place < asked.length && spoken[at] === asked[place] ? 1 + lengthOf(at + 1, place + 1) : 0
  for (let at = 0; at < spoken.length; ) {
    const run = runAt(at)
    if (run >= Math.min(3, asked.length) && run > 0) at += run
    else kept.push(spoken[at++] ?? '')
  }
  return kept
}

test('whatever repeats in prompt and words, the longest echo is found', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 25 })
  fc.assert(
    fc.property(lines, lines, (spoken, asked) => {
      expect(left(spoken, asked)).toEqual(asked.length === 0 ? spoken : leftPlainly(spoken, asked))
    }),
    { numRuns: 500 },
  )
})

describe('a long repeated prompt costs work in proportion to its length', () => {
  /** How often a table was read or written. */
  function work(lines: readonly string[]): number {
    const spies = (['get', 'set', 'has'] as const).map((name) => vi.spyOn(Map.prototype, name))
    try {
      left([...lines, 'Done.'], lines)
      return spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0)
    } finally {
      for (const spy of spies) spy.mockRestore()
    }
  }

  test.each<[what: string, line: (n: number) => string]>([
    ['one line over and over', () => '- do it'],
    ['three lines in turn', (n) => ['}', 'foo()', '{'][n % 3] ?? ''],
    ['a line between others that are all different', (n) => (n % 2 === 0 ? '}' : `line ${n}`)],
    ['lines that are all different', (n) => `line ${n}`],
    ['lines without a pattern', (n) => String((n * n) % 17)],
  ])('%s', (_, line) => {
    const some = work(Array.from({ length: 1_000 }, (_, n) => line(n)))
    const more = work(Array.from({ length: 4_000 }, (_, n) => line(n)))
    expect(more).toBeLessThan(5 * some)
  })
})
