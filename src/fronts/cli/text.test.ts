import { expect, test } from 'vitest'
import { openScreen } from './screen.test-support.ts'
import { ago, clock, EMPTY_LINE, jsonLine, paint, printable, short, table } from './text.ts'

test.each([
  ['fits', 'hello', 10, 'hello'],
  ['is cut', 'hello world', 6, 'hello…'],
  ['counts wide characters twice', '日本語テキスト', 6, '日本…'],
  ['counts emoji twice', '🎉🎉🎉', 4, '🎉…'],
  ['folds lines', 'a\n\n b\tc', 10, 'a b c'],
  ['drops colors', '\u001b[31mred\u001b[0m text', 10, 'red text'],
  ['drops control characters', 'a\u0007b\u0000c', 10, 'abc'],
])('short text %s', (_, text, width, expected) => {
  expect(short(text, width)).toBe(expected)
})

test('printed text cannot move the cursor or set the window title, unless ralph itself does', () => {
  const hostile = 'a\u001b[2Jb\u001b]0;title\u0007c\bd\ne'
  const { context, printed } = openScreen({ columns: 80 })
  context.out.write(`${EMPTY_LINE}${hostile}`)
  context.err.write(hostile)
  context.note(hostile)
  expect(printed()).toBe('\r\u001b[2Kabcd\neabcd\neralph: abcd\ne\n')
})

test('only colors painted by ralph reach the terminal', () => {
  const text = paint({ color: true }, 'red', 'red \u001b[32mgreen\u001b[39m \u001b]0;no end')
  expect(printable(`${text} \u001b[31;1234567mplain`)).toBe('\u001b[31mred green \u001b[39m plain')
  expect(paint({ color: false }, 'red', 'red')).toBe('red')
})

test('a line of JSON is printed unchanged and hides nothing from a terminal', () => {
  const value = { text: 'a\u009d0;title\u009c\u202eb\u2028c\ud800 👩‍💻' }
  const line = jsonLine(value)
  expect(JSON.parse(line)).toEqual(value)
  expect(line).toBe(String.raw`{"text":"a\u009d0;title\u009c\u202eb\u2028c\ud800 👩‍💻"}`.concat('\n'))
  expect(printable(line)).toBe(line)
})

test.each([
  [0, '0:00'],
  [61_000, '1:01'],
  [3_725_000, '1:02:05'],
  [-5, '0:00'],
])('%i ms on the clock is %s', (ms, text) => {
  expect(clock(ms)).toBe(text)
})

test.each([
  [1_000, 'just now'],
  [120_000, '2 min ago'],
  [7_200_000, '2 h ago'],
  [3 * 86_400_000, '3 d ago'],
])('%i ms ago is %s', (ms, text) => {
  expect(ago(ms)).toBe(text)
})

test('table columns are as wide as their widest cell, and the table is cut at the terminal width', () => {
  expect(
    table(
      [
        ['a', 'bb'],
        ['ccc', 'd'],
      ],
      80,
    ),
  ).toBe('a    bb\nccc  d\n')
  expect(table([['a', 'long text']], 6)).toBe('a  lo…\n')
  const wide = [
    ['🎉', 'x'],
    ['abcd', 'y'],
  ]
  expect(table(wide, 80)).toBe('🎉    x\nabcd  y\n')
})
