import { expect, test } from 'vitest'
import { followingClock, steadyClock } from './clock.ts'

/** A wall and a stopwatch that go together, until somebody sets the wall. */
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

test('it goes with the wall', () => {
  const { now, pass } = makeClock()
  pass(250)
  expect(now()).toBe(1_000_250)
})

test('a wall that is set back does not turn it back, and it goes on', () => {
  const { now, pass, set } = makeClock()
  pass(1_000)
  set(0)
  expect(now()).toBe(1_001_000)
  pass(60_000)
  expect(now()).toBe(1_061_000)
})

test('a wall that is set back again and again does not stop it', () => {
  const { now, pass, set } = makeClock()
  for (let n = 1; n <= 10; n++) {
    set(n)
    pass(1_000)
    expect(now()).toBe(1_000_000 + n * 1_000)
  }
})

test('a wall that is ahead, as after a sleep of the machine, is believed', () => {
  const { now, pass, set } = makeClock()
  set(9_000_000)
  pass(10)
  expect(now()).toBe(9_000_010)
})

test('it tells whole milliseconds', () => {
  let elapsed = 0
  const now = steadyClock(
    () => 1_000,
    () => (elapsed += 0.3),
  )
  for (let n = 0; n < 10; n++) expect(Number.isInteger(now())).toBe(true)
})

test('a clock that follows another goes by its time, whichever of the two is ahead', () => {
  let own = 1_000
  const { now, follow } = followingClock(() => own)
  expect(now()).toBe(1_000)
  follow(500)
  expect(now()).toBe(500)
  own += 100
  expect(now()).toBe(600)
})

test('told the time again it does not go back', () => {
  let own = 1_000
  const { now, follow } = followingClock(() => own)
  follow(5_000)
  expect(now()).toBe(5_000)
  follow(4_000)
  expect(now()).toBe(5_000)
  own += 1_500
  expect(now()).toBe(5_500)
})
