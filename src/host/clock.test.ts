import { expect, test } from 'vitest'
import { followingClock, steadyClock } from './clock.ts'

/** A wall clock and a stopwatch that run together until somebody sets the wall clock. */
function makeClock() {
  let [wall, elapsed] = [1_000_000, 500]
  const now = steadyClock(
    () => wall,
    () => elapsed,
  )
  return {
    now,
    pass(ms: number) {
      wall += ms
      elapsed += ms
    },
    set(to: number) {
      wall = to
    },
  }
}

test('follows the wall clock', () => {
  const { now, pass } = makeClock()
  pass(250)
  expect(now()).toBe(1_000_250)
})

test('keeps going forward when the wall clock is set back', () => {
  const { now, pass, set } = makeClock()
  pass(1_000)
  set(0)
  expect(now()).toBe(1_001_000)
  pass(60_000)
  expect(now()).toBe(1_061_000)
})

test('keeps going when the wall clock is set back again and again', () => {
  const { now, pass, set } = makeClock()
  for (let n = 1; n <= 10; n++) {
    set(n)
    pass(1_000)
    expect(now()).toBe(1_000_000 + n * 1_000)
  }
})

test('trusts a wall clock that jumps ahead, as after the machine has slept', () => {
  const { now, pass, set } = makeClock()
  set(9_000_000)
  pass(10)
  expect(now()).toBe(9_000_010)
})

test('returns whole milliseconds', () => {
  let elapsed = 0
  const now = steadyClock(
    () => 1_000,
    () => (elapsed += 0.3),
  )
  for (let n = 0; n < 10; n++) expect(Number.isInteger(now())).toBe(true)
})

test('a clock that follows another shows its time, whichever is ahead', () => {
  let own = 1_000
  const { now, follow } = followingClock(() => own)
  expect(now()).toBe(1_000)
  follow(500)
  expect(now()).toBe(500)
  own += 100
  expect(now()).toBe(600)
})

test('does not go back when it is given the time again', () => {
  let own = 1_000
  const { now, follow } = followingClock(() => own)
  follow(5_000)
  expect(now()).toBe(5_000)
  follow(4_000)
  expect(now()).toBe(5_000)
  own += 1_500
  expect(now()).toBe(5_500)
})
