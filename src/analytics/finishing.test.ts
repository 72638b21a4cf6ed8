import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HaltReason } from '../engine/loop.ts'
import { chanceOf, finishingOf } from './finishing.ts'
import { done, halted, loopWith, many } from './numbers.test-support.ts'

test('says nothing without loops', () => {
  expect(finishingOf([])).toEqual([])
  expect(finishingOf([done(0)])).toEqual([])
  expect(chanceOf([], 0, 10)).toBe(0)
})

test('counts the loops that reached an iteration, and those that completed with it', () => {
  const rows = finishingOf([
    done(1),
    done(3),
    halted(2, 'max-iterations'),
    loopWith({ status: 'running', iterations: 2 }),
  ])
  expect(rows.map(({ iteration, reached, finished }) => [iteration, reached, finished])).toEqual([
    [1, 4, 1],
    [2, 3, 0],
    [3, 1, 1],
  ])
})

test('starts with one chance in four, and believes what it sees', () => {
  // 49 of 96 loops finish at once. All together: (49 + 1) of (96 + 4); this iteration: (49 + 0.5) of (96 + 1).
  const [first] = finishingOf([...many(49, () => done(1)), ...many(47, () => halted(1, 'max-iterations'))])
  expect(first?.by).toBeCloseTo(49.5 / 97)
  expect(first?.open).toBeCloseTo(1 - 49.5 / 97)
  const [only] = finishingOf([halted(1, 'max-iterations')])
  expect(only?.by).toBeCloseTo(1 / 5 / 2)
})

test('a loop that gave up can no longer finish, one that was cut short could have', () => {
  const late = () => done(2)
  const chance = (reason: HaltReason) =>
    finishingOf([...many(50, late), ...many(50, () => halted(1, reason))]).at(-1)?.by ?? 0
  expect(chance('no-progress')).toBeLessThan(0.55)
  expect(chance('max-iterations')).toBeGreaterThan(0.95)
})

test('the chance to still finish falls with failed attempts', () => {
  const rows = finishingOf([
    ...many(60, () => done(1)),
    ...many(10, () => done(5)),
    ...many(30, () => halted(5, 'no-progress')),
  ])
  expect(chanceOf(rows, 0, 10)).toBeGreaterThan(chanceOf(rows, 1, 10))
  expect(chanceOf(rows, 1, 10)).toBeCloseTo(rows[0]?.still ?? 0)
  expect(chanceOf(rows, 1, 4)).toBeLessThan(chanceOf(rows, 1, 5))
  expect(chanceOf(rows, 5, 10)).toBe(0)
  expect(chanceOf(rows, 9, 10)).toBe(0)
  expect(chanceOf(rows, 0, 0)).toBe(chanceOf(rows, 0, 5))
})

test('chances stay between 0 and 1, whatever happened', () => {
  const anything = fc.record({
    status: fc.constantFrom('completed' as const, 'halted' as const, 'cancelled' as const, 'running' as const),
    reason: fc.constantFrom<HaltReason>('no-progress', 'max-iterations'),
    iterations: fc.integer({ min: 0, max: 30 }),
  })
  fc.assert(
    fc.property(fc.array(anything, { maxLength: 60 }), (loops) => {
      const rows = finishingOf(loops)
      for (const [index, row] of rows.entries()) {
        expect(row.by).toBeGreaterThanOrEqual(rows[index - 1]?.by ?? 0)
        expect(row.by + row.open).toBeLessThanOrEqual(1 + 1e-9)
        expect(row.open).toBeGreaterThan(0)
        expect(row.still).toBeGreaterThanOrEqual(0)
        expect(row.still).toBeLessThanOrEqual(1 + 1e-9)
      }
    }),
  )
})
