import { expect, test } from 'vitest'
import { type Answer, parseAnswer } from './answer.ts'
import { clock, endWords, joinNotices, progressLines, short, statusWords } from './words.ts'

const answer = (value: object): Answer =>
  parseAnswer(JSON.stringify({ next: 'none', status: 'running', ...value })) as Answer

test('the status names the iteration, and the limit when there is one', () => {
  expect(statusWords({ iteration: 3, maxIterations: 10 })).toBe('Ralph iteration: 3/10')
  expect(statusWords({ iteration: 3, maxIterations: 0 })).toBe('Ralph iteration: 3')
})

test.each([
  [{ status: 'halted', reason: 'max-iterations', max_iterations: 5 }, 'Ralph: Max iterations (5) reached'],
  [{ status: 'completed', promise: 'ALL DONE' }, 'Ralph: Completion detected: <promise>ALL DONE</promise>'],
  [{ status: 'completed' }, undefined],
  [{ status: 'halted', reason: 'no-progress', promise: 'DONE' }, undefined],
  [{ status: 'running', promise: 'DONE' }, undefined],
])('an end of %o is shown as %s', (value, words) => {
  expect(endWords(answer(value))).toBe(words)
})

test('notices of one kind are merged without repetition', () => {
  const info = (text: string) => ({ level: 'info', text }) as const
  const warning = { level: 'warning', text: 'c' } as const
  expect(joinNotices([info('a'), info('b'), info('a'), warning, info('d')])).toEqual([info('a\nb'), warning, info('d')])
})

test('progress is one line, or two with the checks of the previous turn', () => {
  const progress = { iteration: 2, maxIterations: 0, elapsedMs: 65_000, costUsd: 0, doing: 'at work', checks: [] }
  expect(progressLines(progress)).toEqual(['↻ ralph 2 · 1:05 · at work'])
  const checks = [
    { check: 'npm test', result: 'pass' },
    { check: 'npm run lint', result: 'fail' },
    { check: 'slow', result: 'timeout' },
  ]
  expect(progressLines({ ...progress, maxIterations: 4, costUsd: 0.123, checks })).toEqual([
    '↻ ralph 2/4 · 1:05 · $0.12 · at work',
    '  last check: ✓ npm test  ✗ npm run lint  ✗ slow (timeout)',
  ])
})

test('times and text are short', () => {
  expect([0, 59_999, 3_600_000, -5].map(clock)).toEqual(['0:00', '0:59', '1:00:00', '0:00'])
  expect(short('a\n  b')).toBe('a b')
  expect(short('x'.repeat(80), 5)).toBe('xxxx…')
})
