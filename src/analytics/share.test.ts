import { expect, test } from 'vitest'
import { shareOf, spreadOf } from './share.ts'

// Reference values: Wilson score intervals, as statsmodels prints them.
test.each([
  [0, 10, 0, 0.2775],
  [1, 10, 0.0179, 0.4042],
  [8, 10, 0.4902, 0.9433],
  [10, 10, 0.7225, 1],
  [80, 100, 0.7112, 0.8666],
])('%i of %i is between %d and %d', (count, of, low, high) => {
  const share = shareOf(count, of)
  expect(share.rate).toBe(count / of)
  expect(share.low).toBeCloseTo(low, 3)
  expect(share.high).toBeCloseTo(high, 3)
})

test('there is no rate of nothing', () => {
  expect(shareOf(0, 0)).toEqual({ count: 0, of: 0 })
  expect(spreadOf([])).toBeUndefined()
})

test('values are spread around their median', () => {
  expect(spreadOf([9, 1, 2, 3, 1])).toEqual({ loops: 5, mean: 3.2, median: 2, p90: 9 })
})
