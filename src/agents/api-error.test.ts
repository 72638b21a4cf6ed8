import { expect, test } from 'vitest'
import { kindOfMessage, kindOfWords, wordsOfError } from './api-error.ts'

test.each<[message: string, words: string]>([
  ['503: {"message":"Overloaded","type":"overloaded_error","param":null}', '503: Overloaded'],
  ['529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', '529 Overloaded'],
  ['503 overloaded', '503 overloaded'],
  [
    '529 {"type":"error","error":{"type":"overloaded_error"}}',
    '529 {"type":"error","error":{"type":"overloaded_error"}}',
  ],
  ['500: {"error":null}', '500: {"error":null}'],
  ['400: {"message":"cut o', '400: {"message":"cut o'],
  ['Unexpected token { in a template', 'Unexpected token { in a template'],
])('%s reads for a person: %s', (message, words) => {
  expect(wordsOfError(message)).toBe(words)
})

const QUOTA =
  'You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.'

test.each([
  // Gemini says "billing" in every message about its quotas; one that can be waited for names a time.
  [`${QUOTA} Please retry in 34.07s.`, 'rate-limit'],
  [`429 ${QUOTA} * Quota exceeded for metric: generate_content_free_tier_requests, limit: 20`, 'rate-limit'],
  [`{"code":429,"status":"RESOURCE_EXHAUSTED","message":"${QUOTA}"}`, 'rate-limit'],
  [`${QUOTA} [{"retryDelay":"34s"}]`, 'rate-limit'],
  // Waiting does not bring money.
  ['You exceeded your current quota, please check your plan and billing details.', 'auth'],
  ['429 insufficient_quota: You exceeded your current quota, please check your plan and billing details.', 'auth'],
  ['Your credit balance is too low to access the API. Please retry in 5 minutes.', 'auth'],
  ['Billing is not active.', 'auth'],
  ['input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000', 'context'],
  ['This request exceeds the context limit.', 'context'],
  ['This model’s maximum context length is 8192 tokens.', 'context'],
  ['Incorrect API key provided: sk-…', 'auth'],
  ['invalid x-api-key', 'auth'],
  ['API key not valid. Please pass a valid API key.', 'auth'],
  ['Rate limit reached for requests', 'rate-limit'],
  ['something else', undefined],
] as const)('%s', (words, kind) => {
  expect(kindOfWords(words)).toBe(kind)
})

test('a status counts if the text leaves it open', () => {
  expect(kindOfMessage(`429 ${QUOTA} Please retry in 34s.`)).toBe('rate-limit')
  expect(kindOfMessage('503 something')).toBe('overloaded')
  expect(kindOfMessage('something')).toBe('unknown')
})
