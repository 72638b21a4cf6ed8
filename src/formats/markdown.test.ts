import { expect, test } from 'vitest'
import { code, inline, typed } from './markdown.ts'

test.each([
  ['plain words, 5% - (really)!', 'plain words, 5% - (really)!'],
  ['two\n\n# lines', 'two # lines'],
  ['# heading', '\\# heading'],
  ['#12 is fixed', '#12 is fixed'],
  ['- bullet', '\\- bullet'],
  ['> quote', '\\> quote'],
  ['---', '\\---'],
  ['1. first', '1\\. first'],
  ['12) first', '12\\) first'],
  ['1.5 hours', '1.5 hours'],
  ['~~~', '\\~\\~\\~'],
  ['~/.config', '\\~/.config'],
  ['a `b` | c', 'a \\`b\\` \\| c'],
  ['**bold** <b>html</b>', '\\*\\*bold\\*\\* \\<b>html\\</b>'],
  ['![x](http://y) [z]', '!\\[x\\](http://y) \\[z\\]'],
  ['snake_case __init__.py', 'snake_case \\_\\_init\\_\\_.py'],
  ['C:\\temp', 'C:\\\\temp'],
  ['a & b &lt;', 'a & b \\&lt;'],
  ['🦉', '🦉'],
  ['', ''],
])('in a line %j is %j', (text, markdown) => {
  expect(inline(text)).toBe(markdown)
})

test.each([
  ['src/a.ts', '`src/a.ts`'],
  ['a`b', '`` a`b ``'],
  ['a``b', '` a``b `'],
  ['`a`', '`` `a` ``'],
  ['a|b', '`a\\|b`'],
  ['a\nb', '`a b`'],
  ['', '`  `'],
])('as code %j is %j', (text, markdown) => {
  expect(code(text)).toBe(markdown)
})

test.each([
  ['ralph task state a', '`ralph task state a`'],
  ["ralph task state 'a|b  c'", "`ralph task state 'a|b  c'`"],
  ['a`b\nc', '`` a`b c ``'],
])('to be typed %j is %j', (text, markdown) => {
  expect(typed(text)).toBe(markdown)
})
