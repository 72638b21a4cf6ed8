import { expect, test } from 'vitest'
import { readReset } from './reset.ts'

/** In the afternoon of 17 November 2026, by this machine's clock. */
const NOW = new Date(2026, 10, 17, 14, 0).getTime()
const local = (...parts: [number, number, number, number, number?]) => new Date(...parts).getTime()

test.each<[words: string, at: number | undefined]>([
  ['try again in 20 minutes', NOW + 20 * 60_000],
  ['Please wait 30 seconds', NOW + 30_000],
  ['Please retry in 34.07s.', NOW + 34_070],
  ['Rate limit. retry-after: 30', NOW + 30_000],
  ['"retryDelay": "34s"', NOW + 34_000],
  ['wait for 2 minutes before the next request', NOW + 120_000],
  ['resets 3pm', local(2026, 10, 17, 15)],
  ['resets at 1:30pm', local(2026, 10, 18, 13, 30)],
  ['try again at 3:33 AM.', local(2026, 10, 18, 3, 33)],
  ['try again at Nov 20th, 2026 3:33 AM.', local(2026, 10, 20, 3, 33)],
  ['try again at Jan 1st, 2100 12:00 AM.', local(2100, 0, 1, 0)],
  ['resets Nov 20, 3pm', local(2026, 10, 20, 15)],
  ['resets Jan 2, 3pm', local(2027, 0, 2, 15)],
  ["You've hit your 5-hour limit · resets Jan 1, 2100, 12am (UTC)", Date.UTC(2100, 0, 1)],
  ['resets Nov 20 at 3pm (America/New_York)', Date.UTC(2026, 10, 20, 20)],
  ['resets Jul 3, 2027, 9:30am (Europe/Berlin)', Date.UTC(2027, 6, 3, 7, 30)],
  ['resets Nov 20, 3pm (Nowhere/Land)', undefined],
  ['resets Foo 20, 3pm', undefined],
  ['nothing of the kind', undefined],
])('%s', (words, at) => {
  expect(readReset(words, NOW)).toBe(at)
})
