import { expect, test } from 'vitest'
import { errorFingerprint, fingerprint } from './fingerprint.ts'

test.each<[what: string, one: string, other: string]>([
  ['colors', '\u001b[31mFAIL\u001b[39m parser', 'FAIL parser'],
  ['addresses', 'at 0x7ffd12ab', 'at 0x7FFE99cd'],
  ['dates', '2026-01-05T09:00:01.123Z failed', '2026-01-06T10:20:30.456Z failed'],
  ['dates with a space', '2026-01-05 09:00:01 failed', '2026-01-06 10:20:30 failed'],
  ['times of day', 'Start at  20:28:31', 'Start at  20:29:02'],
  ['times of day with fractions', '[09:00:01.123] failed', '[10:20:30,456] failed'],
  ['durations', 'Duration 412ms (tests 21ms)', 'Duration 1.02s (tests 5 ms)'],
  ['durations in words', 'took 2 minutes', 'took 3 min'],
  ['white space', 'a  b\n\nc', 'a b c '],
  ['what came long before the end', `${'x'.repeat(600)} the end`, `${'x'.repeat(700)} the end`],
])('%s make no difference to a fingerprint', (_, one, other) => {
  expect(errorFingerprint(one)).toBe(errorFingerprint(other))
})

test.each<[one: string, other: string]>([
  ['expected 1, got 2', 'expected 1, got 3'],
  ['parser.ts:12:30 failed', 'parser.ts:14:30 failed'],
  ['TypeError: x', 'TypeError: y'],
  ['3 failed', '4 failed'],
])('"%s" is a different failure from "%s"', (one, other) => {
  expect(errorFingerprint(one)).not.toBe(errorFingerprint(other))
})

test('a fingerprint names each failing check, and no other', () => {
  const verdict = { failures: 1, tail: 'boom' }
  const failed = fingerprint([
    { check: 'a', result: 'fail', ...verdict },
    { check: 'b', result: 'pass', ...verdict },
    { check: 'c', result: 'timeout', ...verdict },
  ])
  expect(failed).toBe('a: boom; c: boom')
  expect(fingerprint([])).toBe('')
})

test('fingerprints stay short and are quick to compute from any text', () => {
  const started = performance.now()
  for (const text of ['1'.repeat(1_000_000), '1 '.repeat(500_000), ' '.repeat(1_000_000), '\u001b['.repeat(500_000)])
    expect(errorFingerprint(text).length).toBeLessThanOrEqual(500)
  expect(performance.now() - started).toBeLessThan(10_000)
})
