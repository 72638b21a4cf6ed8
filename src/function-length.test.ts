import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const MOST = 60

test(`no function is longer than ${MOST} lines`, () => {
  const files = globSync('**/*.ts', { cwd: import.meta.dirname }).filter(
    (file) => !/\.(test|test-support)\.ts$|store-contract\//.test(file),
  )
  const long = files.flatMap((file) =>
    functionsIn(readFileSync(`${import.meta.dirname}/${file}`, 'utf8'))
      .filter(({ lines }) => lines > MOST)
      .map(({ at, lines }) => `${file}:${at} has ${lines} lines`),
  )
  expect(long).toEqual([])
})

test.each<[what: string, text: string, found: object[]]>([
  ['a function', 'function a() {\n  b()\n}\n', [{ at: 1, lines: 3 }]],
  ['one with a long signature', 'function a(\n  b: string,\n): {\n  c: string\n} {\n  d()\n}\n', [{ at: 1, lines: 7 }]],
  ['an arrow', 'const a = (b) => {\n  c()\n}\n', [{ at: 1, lines: 3 }]],
  [
    'a method in a function',
    'function a() {\n  return {\n    b() {\n      c()\n    },\n  }\n}\n',
    [
      { at: 1, lines: 7 },
      { at: 3, lines: 3 },
    ],
  ],
  ['no function', 'if (a) {\n  b()\n} else {\n  c()\n}\ntype D = {\n  e: string\n}\n', []],
])('finds %s', (_, text, found) => {
  expect(functionsIn(text)).toEqual(found)
})

/** By indentation, which Biome enforces. Functions whose body is an expression are ignored. */
function functionsIn(text: string): { at: number; lines: number }[] {
  const lines = text.split('\n')
  return lines.flatMap((line, index) => {
    const indent = /^ */.exec(line)?.[0] ?? ''
    const at = lines.findLastIndex((above, one) => one <= index && begins(above, indent))
    if (
      !line.endsWith('{') ||
      !OPENS.test(
        lines
          .slice(at, index + 1)
          .join(' ')
          .trim(),
      )
    )
      return []
    const end = lines.findIndex((below, one) => one > index && below.startsWith(`${indent}}`))
    return /^ *\} .*\{$/.test(lines[end] ?? '') ? [] : [{ at: at + 1, lines: end - at + 1 }]
  })
}

/** A line of that indentation that does not continue the one above. */
function begins(line: string, indent: string): boolean {
  return line.startsWith(indent) && /^[^\s)}\]]/.test(line.slice(indent.length))
}

const OPENS =
  /=> \{$|^(?!(?:if|for|while|switch|catch|with)\b)(?:(?:export|default|async|static|get|set) )*(?:function\*? ?)?[\w#]*(?:<[^(]*>)?\(.*\).*\{$/
