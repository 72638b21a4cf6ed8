import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { openNews } from './news.ts'

test('wakes all waiters, once', async () => {
  const news = openNews()
  const woken: number[] = []
  const waiting = [1, 2].map((who) => news.wait().then(() => woken.push(who)))
  news.ring()
  await Promise.all(waiting)
  news.ring()
  expect(woken).toEqual([1, 2])
})

test('an earlier ring does not wake later waiters', async () => {
  const news = openNews()
  news.ring()
  const first = await Promise.race([news.wait().then(() => 'rung'), news.wait(1).then(() => 'waited')])
  expect(first).toBe('waited')
})

test('a waiter that waits again while being woken waits for the next ring', async () => {
  const news = openNews()
  let again: Promise<string> | undefined
  const first = news.wait().then(() => {
    again = Promise.race([news.wait().then(() => 'rung'), news.wait(1).then(() => 'waited')])
  })
  news.ring()
  await first
  expect(await again).toBe('waited')
})

test('ends with its signal, at once if that has fired, and leaves no listener', async () => {
  const news = openNews()
  const stop = new AbortController()
  const waiting = [news.wait(undefined, stop.signal), news.wait(1_000_000, stop.signal)]
  stop.abort()
  await Promise.all(waiting)
  await news.wait(undefined, stop.signal)
  const other = new AbortController()
  const woken = news.wait(undefined, other.signal)
  news.ring()
  await woken
  expect(getEventListeners(other.signal, 'abort')).toEqual([])
})

test('handles a time in the past, or further away than a timer can hold', async () => {
  const news = openNews()
  await news.wait(-5)
  const far = news.wait(Number.MAX_SAFE_INTEGER).then(() => 'far')
  expect(await Promise.race([far, news.wait(1).then(() => 'near')])).toBe('near')
  news.ring()
  await far
})
