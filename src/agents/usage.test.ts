import { expect, test } from 'vitest'
import { plus, sinceResume } from './usage.ts'

const USAGE = { input: 1, cached: 2, output: 3 }

test('steps add up', () => {
  expect(plus(plus(undefined, USAGE), USAGE)).toEqual({ input: 2, cached: 4, output: 6 })
})

test('what a session used before is not counted again', () => {
  const total = { input: 11, cached: 12, output: 13 }
  expect(sinceResume(total, undefined)).toEqual(total)
  expect(sinceResume(total, { tokens: 6, usage: USAGE })).toEqual({ input: 10, cached: 10, output: 10 })
  expect(sinceResume(undefined, { tokens: 6, usage: USAGE })).toBeUndefined()
})

test('if only the earlier sum is known, the kinds are not', () => {
  expect(sinceResume(USAGE, { tokens: 6 })).toBeUndefined()
})
