import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { AROUND_MS, promiseMinutes, promiseTurn } from './promised.ts'

const MINUTE = 60_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})

afterEach(() => {
  vi.useRealTimers()
})

describe('what a driver promises', () => {
  const promises: number[] = []
  const bench = { expect: (ms: number) => promises.push(ms) }
  beforeEach(() => promises.splice(0))

  test('lasts for as long as an agent may be silent, with each sign of life', () => {
    const isAlive = promiseTurn(bench, { silenceMs: 10 * MINUTE, graceMs: MINUTE })
    isAlive()
    expect(promises).toEqual([11 * MINUTE + AROUND_MS, 12 * MINUTE])
  })

  test('never exceeds the deadline of the turn plus the time to stop it', () => {
    const isAlive = promiseTurn(bench, { silenceMs: 10 * MINUTE, graceMs: MINUTE, deadlineMs: 12 * MINUTE })
    isAlive()
    vi.advanceTimersByTime(8 * MINUTE)
    isAlive()
    vi.advanceTimersByTime(8 * MINUTE)
    isAlive()
    expect(promises.slice(1)).toEqual([12 * MINUTE, 6 * MINUTE, 2 * MINUTE])
  })

  test('covers the minutes of a check', () => {
    promiseMinutes(bench, 5)
    promiseMinutes(bench, -1)
    expect(promises).toEqual([5 * MINUTE + AROUND_MS, AROUND_MS])
  })

  test('is nothing if nobody asks for it', () => {
    promiseTurn({}, { silenceMs: MINUTE, graceMs: 0 })()
    promiseMinutes({}, 5)
    expect(promises).toEqual([])
  })
})
