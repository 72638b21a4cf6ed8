import { expect, test } from 'vitest'
import { extractExamples } from './doctests.ts'

const source = `"""Sums.

>>> add(0, 0)
0
"""


def add(a, b):
    """Adds.

    >>> add(2, 3)
    5
    >>> [
    ...   add(1, 1)]
    [2]

    Negative numbers, too.
    """
    return a - b
`
const same = (other: string) => extractExamples(other) === extractExamples(source)

test.each<[story: string, change: (text: string) => string]>([
  ['code', (text) => text.replace('a - b', 'a + b')],
  ['prose', (text) => text.replace('Adds.', 'Adds two numbers.').replace('Negative numbers, too.', '')],
  ['a signature', (text) => text.replace('def add(a, b):', 'def add(\n    a: int, b: int\n) -> int:')],
  ['a function of its own', (text) => `${text}\n\ndef twice(a):\n    """Twice."""\n    return 2 * a\n`],
  ['line ends', (text) => text.replaceAll('\n', '\r\n')],
])('the examples stay the same with another %s', (_, change) => {
  expect(change(source)).not.toBe(source)
  expect(same(change(source))).toBe(true)
})

test.each<[story: string, change: (text: string) => string]>([
  ['what is expected', (text) => text.replace('    5', '    -1')],
  ['what is asked', (text) => text.replace('add(2, 3)', 'add(5, 0)')],
  ['a continued line', (text) => text.replace('add(1, 1)]', 'add(2, 0)]')],
  ['fewer of them', (text) => text.replace('    >>> add(2, 3)\n    5\n', '')],
  ['a skip', (text) => text.replace('add(2, 3)', 'add(2, 3)  # doctest: +SKIP')],
  ['a text that belongs to nothing', (text) => text.replace('    """Adds.', '    _ = """Adds.')],
  ['a statement before it', (text) => text.replace('    """Adds.', '    pass\n    """Adds.')],
  ['a place where nobody looks', (text) => text.replace('def add', 'if False:\n  def add')],
  ['another function of that name', (text) => `${text}\n\ndef add(a, b):\n    return 0\n`],
  ['another value of that name', (text) => `${text}\n\nadd = max\n`],
  ['no texts at all', (text) => `${text}\n\nadd.__doc__ = ""\n`],
])('the examples differ with %s', (_, change) => {
  expect(same(change(source))).toBe(false)
})

test('prose in a document does not count', () => {
  const text = 'Sums\n====\n\n    >>> add(2, 3)\n    5\n\nThat is all.\n'
  expect(extractExamples(text.replace('That is all.', 'No more.'))).toBe(extractExamples(text))
  expect(extractExamples(text.replace('5', '6'))).not.toBe(extractExamples(text))
  expect(extractExamples('No examples.')).toBe('')
})

test('a long list of examples is read in one pass', () => {
  const examples = Array.from({ length: 20_000 }, (_, at) => `>>> add(${at}, 0)\n${at}\n\n`).join('')
  const start = performance.now()
  expect(extractExamples(`def add(a, b):\n    """\n${examples}    """\n`)).toContain('def add\n')
  expect(performance.now() - start).toBeLessThan(2000)
})
