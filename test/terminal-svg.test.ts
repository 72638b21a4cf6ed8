/** The picture of a terminal shows its text and colors, each character in its cell. */
import { describe, expect, test } from 'vitest'
import { readAnsi, terminalSvg } from '../scripts/terminal-svg.ts'

describe('readAnsi', () => {
  test.each<[what: string, ansi: string, lines: object[][]]>([
    ['plain text', 'a b', [[{ column: 0, text: 'a b' }]]],
    [
      'colors and their end',
      '\u001b[31m✗\u001b[39m no',
      [
        [
          { column: 0, text: '✗', color: 31 },
          { column: 1, text: ' no' },
        ],
      ],
    ],
    ['several codes at once', '\u001b[0;1mx', [[{ column: 0, text: 'x', bold: true }]]],
    [
      'bold and dim end together, the color stays',
      '\u001b[1;32ma\u001b[22mb',
      [
        [
          { column: 0, text: 'a', bold: true, color: 32 },
          { column: 1, text: 'b', color: 32 },
        ],
      ],
    ],
    [
      'a style that lasts across lines',
      '\u001b[2ma\nb\u001b[0m c',
      [
        [{ column: 0, text: 'a', dim: true }],
        [
          { column: 0, text: 'b', dim: true },
          { column: 1, text: ' c' },
        ],
      ],
    ],
    [
      'blank lines inside but not at the end',
      'a\n\nb\n\n',
      [[{ column: 0, text: 'a' }], [], [{ column: 0, text: 'b' }]],
    ],
    ['codes it does not draw are dropped', '\u001b[4;49ma', [[{ column: 0, text: 'a' }]]],
  ])('%s', (_, ansi, lines) => {
    expect(readAnsi(ansi)).toEqual(lines)
  })
})

describe('terminalSvg', () => {
  const draw = (ansi: string) => terminalSvg(readAnsi(ansi), { title: 'a "b"', columns: 10 })

  test('places every word on the grid', () => {
    const words = [...draw('ab  cd ✓x').matchAll(/<tspan x="([\d.]+)" textLength="([\d.]+)">(.*?)</g)]
    expect(words.map(([, x, length, word]) => [word, x, length])).toEqual([
      ['ab', '20', '16.8'],
      ['cd', '53.6', '16.8'],
      ['✓', '78.8', '8.4'],
      ['x', '87.2', '8.4'],
    ])
  })

  test('gives colors, bold and dim a class', () => {
    expect(draw('\u001b[1;32ma')).toContain('class="bold c32"')
    expect(draw('\u001b[2ma')).toContain('class="dim"')
  })

  test('grows with its lines, and is as wide as the terminal', () => {
    expect(draw('a')).toContain('viewBox="0 0 124 77"')
    expect(draw('a\nb')).toContain('viewBox="0 0 124 98"')
  })

  test('escapes what XML would read', () => {
    expect(draw('<a>&"')).toContain('>&#60;a&#62;&#38;&#34;</tspan>')
    expect(draw('a')).toContain('aria-label="a &#34;b&#34;"')
  })
})
