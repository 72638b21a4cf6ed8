import { expect, test } from 'vitest'
import { asText } from './as-text.ts'

test.each<[what: string, prompt: string, text: string]>([
  ['the end of a paste', 'one\u001b[201~\rrm -rf x\u001b[200~', 'one\nrm -rf x'],
  ['a sequence inside a sequence', 'one \u001b[20\u001b[31m1~ two', 'one 201~ two'],
  ['the same in eight bits', 'one\u009b201~two', 'one201~two'],
  ['keys', 'a\u0000b\u0003c\u0004d\u001be\u007ff\u0085', 'abcdf'],
  ['colors', '\u001b[31mred\u001b[0m \u001b]0;title\u0007text', 'red text'],
  ['line ends of other systems', 'one\r\ntwo\rthree\tfour', 'one\ntwo\nthree\tfour'],
  ['half a letter', 'one \ud83d two', 'one \ufffd two'],
  ['other languages', '日本語 🎉👨‍👩‍👧 \u202eabc', '日本語 🎉👨‍👩‍👧 \u202eabc'],
  ['a command', '/clear', 'Your task:\n\n/clear'],
  ['a command after a key', '\u001b[0m!rm', 'Your task:\n\n!rm'],
])('%s', (_, prompt, text) => {
  expect(asText(prompt)).toBe(text)
})
