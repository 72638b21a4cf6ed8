import { expect, test } from 'vitest'
import { wordsOfError } from './api-error.ts'

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
])('%s is for a person: %s', (message, words) => {
  expect(wordsOfError(message)).toBe(words)
})
