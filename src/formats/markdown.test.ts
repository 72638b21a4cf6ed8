import { expect, test } from 'vitest'
import { code, fenced, inline, prose, typed } from './markdown.ts'

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

test.each([
  ['`npm test` failed before and passes now.', '`npm test` failed before and passes now.'],
  [
    'ask @alice or @\u200borg/team, see #12 and GH-3',
    'ask @&#8203;alice or @&#8203;\u200borg/team, see #&#8203;12 and GH-&#8203;3',
  ],
  ['fixes owner/repo#4', 'fixes owner/repo#&#8203;4'],
  ['https://a.b/c and www.evil.org', 'https:&#8203;//a.b/c and www&#8203;.evil.org'],
  ['[a](https://b) <img src=x>', '\\[a\\](https:&#8203;//b) \\<img src=x>'],
  ['it is $x$ &#64;alice', 'it is &#36;x&#36; \\&#&#8203;64;alice'],
  ['`@alice` is code, `not', '`@alice` is code, \\`not'],
  ['# no heading\n\n- no list', '\\# no heading - no list'],
  ['', ''],
])('as prose %j is %j', (text, markdown) => {
  expect(prose(text)).toBe(markdown)
})

test('code in the prose of a table keeps its pipes inside', () => {
  expect(prose('`a | b` or c | d', code)).toBe('`a \\| b` or c \\| d')
})

test.each([
  ['one\ntwo\n', '```text\none\ntwo\n```\n'],
  ['```\n</details> @alice', '````text\n```\n</details> @alice\n````\n'],
  ['a ````` b', '``````text\na ````` b\n``````\n'],
])('fenced %j is %j', (text, markdown) => {
  expect(fenced(text)).toBe(markdown)
})
