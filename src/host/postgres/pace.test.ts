import { expect, test } from 'vitest'
import { paceFor } from './pace.ts'

test('a small fleet learns of changes at once, a large one about once per second', () => {
  expect(paceFor(0)).toEqual({ togetherMs: 25, pollMs: 1_000 })
  expect(paceFor(16).togetherMs).toBeLessThan(30)
  expect(paceFor(4_000)).toEqual({ togetherMs: 1_000, pollMs: 10_000 })
  expect(paceFor(1e6)).toEqual(paceFor(4_000))
})

test('however many slots there are, their queries per second have a limit', () => {
  for (const slots of [10, 100, 1_000, 4_000]) expect((slots * 1_000) / paceFor(slots).togetherMs).toBeLessThan(4_001)
})
