import { expect, test } from 'vitest'
import { parseResumeCommand, type ResumeCommand } from './resume-command.ts'

test.each<[text: string, command: ResumeCommand]>([
  ['', { limits: {} }],
  [' k3f ', { loop: 'k3f', limits: {} }],
  ['--max-iterations 20', { limits: { iterations: 20 } }],
  ['k3f --max-iterations=08 --timeout 1.5', { loop: 'k3f', limits: { iterations: 8, minutes: 1.5 } }],
  ['--max-cost 5 --max-tokens 100000 k3f', { loop: 'k3f', limits: { costUsd: 5, tokens: 100_000 } }],
  ['--max-iterations 0', { limits: { iterations: 0 } }],
])('%j', (text, command) => {
  expect(parseResumeCommand(text)).toEqual(command)
})

test.each([
  ['--max-iterations', '--max-iterations needs a value.'],
  ['--max-iterations ten', 'got "ten"'],
  ['--timeout 0', 'a number of minutes above 0'],
  ['--max-tokens 0', 'a whole number above 0'],
  ['--limit 5', 'Unknown option: --limit. Known: --max-iterations, --timeout, --max-tokens, --max-cost.'],
  ['a b', 'Name one loop'],
])('%j is refused', (text, message) => {
  expect(() => parseResumeCommand(text)).toThrow(message)
})
