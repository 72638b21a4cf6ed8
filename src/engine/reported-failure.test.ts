import { expect, test } from 'vitest'
import { reportedFailure } from './reported-failure.ts'

test.each([
  'Error: Cannot find module "x"',
  'I looked around.\n\nTypeError: x is not a function\n    at y',
  'FAILED tests/test_a.py::test_one',
  'fatal: not a git repository',
  'I could not reach the database.',
  'The build fails with code 2.',
  'error TS2304: Cannot find name.',
])('reports a failure: %j', (words) => {
  expect(reportedFailure(words)).not.toBe('')
})

test.each([
  'I fixed the error in the parser.',
  'All tests pass.',
  'Errors are now shown in red.',
  'The handling of failures is done; next comes the page.',
  '',
])('reports none: %j', (words) => {
  expect(reportedFailure(words)).toBe('')
})

test('text around a failure makes no difference', () => {
  expect(reportedFailure('First try.\nError: no such table: users (took 3 ms)')).toBe(
    reportedFailure('I tried another way.\nError: no such table: users (took 12 ms)\nMore to come.'),
  )
})
