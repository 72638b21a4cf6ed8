import { expect, test } from 'vitest'
import { parseSince } from './since.ts'

const NOW = Date.UTC(2026, 10, 16, 9, 30)
const HOUR = 3_600_000

test.each<[text: string, since: number]>([
  ['90m', NOW - 1.5 * HOUR],
  ['24h', NOW - 24 * HOUR],
  ['7d', NOW - 7 * 24 * HOUR],
  ['2w', NOW - 14 * 24 * HOUR],
  ['0h', NOW],
  [' 24h ', NOW - 24 * HOUR],
  ['2026-11-15T08:00Z', Date.UTC(2026, 10, 15, 8)],
  ['2026-11-15T08:00:00.000+02:00', Date.UTC(2026, 10, 15, 6)],
  ['2026-11-15', new Date(2026, 10, 15).getTime()],
  ['2026-11-15T08:00', new Date(2026, 10, 15, 8).getTime()],
])('%s is a time', (text, since) => {
  expect(parseSince(text, NOW)).toBe(since)
})

test.each([
  ...['', 'yesterday', '24', 'h', '-1h', '1.5h', '7 d', '24hours', '9999999h'],
  ...['2026-02-31', '2026-13-01', '2026-11-15 08:00', '2026-11-15T25:00', '2026-11-15Tnoon', '15.11.2026'],
  ...['2027-01-01', '99999d'],
])('"%s" is not', (text) => {
  expect(parseSince(text, NOW)).toBeUndefined()
})
