import { expect, test } from 'vitest'
import { money, spent, tokenWords } from './spent-words.ts'

test.each([
  [0, '-'],
  [0.001, '<$0.01'],
  [1.5, '$1.50'],
])('%d dollars are %s', (usd, text) => {
  expect(money(usd)).toBe(text)
})

test.each([
  [{ costUsd: 1.2, tokens: 5_000 }, '$1.20'],
  [{ costUsd: 0, tokens: 5_000 }, '5k tokens'],
  [{ tokens: 12_345 }, '12k tokens'],
  [{ costUsd: 0, tokens: 0 }, '-'],
])('what was spent: %j', (spending, words) => {
  expect(spent(spending)).toBe(words)
})

test.each([
  [1, '1 token'],
  [999, '999 tokens'],
  [1_000, '1k tokens'],
  [1_450, '1.4k tokens'],
  [9_960, '10k tokens'],
  [999_499, '999k tokens'],
  [999_500, '1M tokens'],
  [3_440_000, '3.4M tokens'],
])('%d tokens are %s', (tokens, words) => {
  expect(tokenWords(tokens)).toBe(words)
})
