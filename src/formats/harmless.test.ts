import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { harmless, jsonText } from './harmless.ts'

const RUNS = Number(process.env.RALPH_TEST_RUNS ?? 1)

test.each<[what: string, text: string, shown: string]>([
  ['colors', 'a\u001b[31mred\u001b[0m', 'ared'],
  ['a color in the form of 8 bits', 'a\u009b31mred', 'ared'],
  ['a color with colons', 'a\u001b[38:2::1:2:3mred', 'ared'],
  ['a cleared screen and a moved cursor', 'a\u001b[2J\u001b[1;1Hb', 'ab'],
  ['private modes', 'a\u001b[?1049hb\u001b[>4;1mc\u001b[!pd', 'abcd'],
  ['a title, ended by a bell', 'a\u001b]0;title\u0007b', 'ab'],
  ['a title, ended by ST', 'a\u001b]0;title\u001b\\b', 'ab'],
  ['a title, ended by ST in 8 bits', 'a\u001b]0;title\u009cb', 'ab'],
  ['a title in the form of 8 bits', 'a\u009d0;title\u009cb', 'ab'],
  ['the clipboard', 'a\u001b]52;c;cm0gLXJmIH4=\u0007b', 'ab'],
  ['a link', '\u001b]8;;http://evil\u0007here\u001b]8;;\u0007', 'here'],
  ['a title without an end', 'a\u001b]0;title\nb', 'a\nb'],
  ['a title that another one interrupts', 'a\u001b]0;one\u001b]0;two\u0007b', 'ab'],
  ['DCS, SOS, PM and APC', 'a\u001bPq#0\u001b\\b\u001bXx\u001b\\c\u001b^y\u001b\\d\u001b_Gz\u001b\\e', 'abcde'],
  ['the same in 8 bits', 'a\u0090q\u009cb\u0098x\u009cc\u009ey\u009cd\u009fz\u009ce', 'abcde'],
  ['other sequences', 'a\u001b7\u001b8\u001bc\u001b(0\u001b#8b', 'ab'],
  ['half a sequence at the end', 'a\u001b[31', 'a'],
  ['a lone escape at the end', 'a\u001b', 'a'],
  ['an escape before a line break', 'a\u001b\nb', 'a\nb'],
  ['other controls', 'a\0b\bc\u0007d\u000be\u000cf\u007fg\u0085h\u0084i', 'abcdefghi'],
  ['overrides of the direction', 'a\u202eb\u202cc\u2066d\u2069e\u200ef\u200fg\u061ch', 'abcdefgh'],
  ['what is never seen', 'a\u200bb\u200cc\u2060d\ufeffe\u00adf\u2063g\u180eh\u3164i\uffa0j\u034fk', 'abcdefghijk'],
  ['tags', 'a\u{e0041}\u{e007f}b\u{e0100}c\u{e0001}d', 'abcd'],
  ['lone surrogates', 'a\ud800b\udc00c', 'abc'],
  ['what is no character', 'a\ufdd0b\uffffc\u{1fffe}d', 'abcd'],
  ['line and paragraph separators', 'a\u2028b\u2029c', 'a b c'],
])('leaves %s out', (_, text, shown) => {
  expect(harmless(text)).toBe(shown)
})

test.each([
  'plain text, with a tab\tand\nlines\n',
  'Grüße, 任务, дело, مهمة, משימה, काम, ภาษา',
  '✓ ✗ · … ‖ “quotes” – dashes — ½ × €',
  '🦉 👩‍💻 👨‍👩‍👧 🏳️‍🌈 ❤️ 👍🏽 🇪🇺 1️⃣ ☎︎',
  'e\u0301 a\u0308',
  'U+0600 stays: \u0600',
])('shows %s as it is', (text) => {
  expect(harmless(text)).toBe(text)
})

test('an overwritten line becomes several', () => {
  expect(harmless('10 %\r20 %\r\nready\r')).toBe('10 %\n20 %\nready\n')
})

test('a joiner that joins no emoji is left out', () => {
  expect(harmless('ver\u200dified \u200d🦉\u200d')).toBe('verified 🦉')
})

const anything = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom(
        '\u001b',
        '[',
        ']',
        '0;',
        'm',
        'a',
        '\u0007',
        '\\',
        '\u009b',
        '\u009d',
        '\n',
        '\r',
        '\u202e',
        '🦉',
        '\u200d',
        '\ud83d',
        '\udc00',
      ),
    )
    .map((parts) => parts.join('')),
)
const ALLOWED =
  /^(?:[\n\t]|(?![\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u061c\ufeff\u{e0000}-\u{e0fff}]).)*$/su

describe('for any text', () => {
  test('no control, direction or hidden character is left, and cleaning again changes nothing', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const shown = harmless(text)
        expect(shown).toMatch(ALLOWED)
        expect(harmless(shown)).toBe(shown)
      }),
      { numRuns: 300 * RUNS },
    )
  })

  test('as JSON it parses back exactly and is harmless', () => {
    fc.assert(
      fc.property(fc.oneof(anything, fc.jsonValue()), (value) => {
        const text = jsonText({ value })
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify({ value })))
        expect(harmless(text)).toBe(text)
      }),
      { numRuns: 300 * RUNS },
    )
  })
})

test('a long text takes time in proportion to its length', () => {
  const took = (text: string) => {
    const began = performance.now()
    harmless(text)
    return performance.now() - began
  }
  for (const part of ['\u001b', '\u001b]0;', '\u001b[', '🦉\u200d', '\r', '\u202e', 'a\u001b[1m']) {
    took(part.repeat(10_000))
    expect(took(part.repeat(200_000))).toBeLessThan(2_000)
  }
})
