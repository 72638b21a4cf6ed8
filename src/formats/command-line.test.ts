import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCommandLine, printCommandLine } from './command-line.ts'

test.each<[line: string, words: string[]]>([
  ['npm test', ['npm', 'test']],
  ['  npm \t test\n', ['npm', 'test']],
  ['./check.sh', ['./check.sh']],
  ['node --test "a b.test.ts"', ['node', '--test', 'a b.test.ts']],
  [`node --test 'a b.test.ts'`, ['node', '--test', 'a b.test.ts']],
  ['a" b "c', ['a b c']],
  [`a'b'"c"d`, ['abcd']],
  ['x "" y', ['x', '', 'y']],
  [`x '' y`, ['x', '', 'y']],
  ['a\\ b c', ['a b', 'c']],
  ['"a \\"b\\" \\\\ \\$c \\n"', ['a "b" \\ $c \\n']],
  [`'a \\ "b"'`, ['a \\ "b"']],
  ['a\\', ['a\\']],
  [`sh -c 'echo $HOME | wc -l && exit'`, ['sh', '-c', 'echo $HOME | wc -l && exit']],
  ['grep -E \\(a\\|b\\) x', ['grep', '-E', '(a|b)', 'x']],
  ['vitest src/*.test.ts', ['vitest', 'src/*.test.ts']],
  ['--flag=a=b', ['--flag=a=b']],
  ['prüfe 🦉', ['prüfe', '🦉']],
])('%s', (line, words) => {
  expect(parseCommandLine(line)).toEqual(words)
})

test.each(['a | b', 'a && b', 'a; b', 'a > b', 'a < b', 'echo $HOME', 'echo `id`', 'echo $(id)', '(a)', 'a&'])(
  'shell syntax is refused: %s',
  (line) => {
    expect(() => parseCommandLine(line)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringMatching(/needs a shell.*sh -c/) }),
    )
  },
)

test('a variable assignment before the command is refused, with an alternative', () => {
  expect(() => parseCommandLine('CI=1 npm test')).toThrow(
    expect.objectContaining({ code: 'usage', message: expect.stringContaining('env CI=1') }),
  )
  expect(parseCommandLine('env CI=1 npm test')).toEqual(['env', 'CI=1', 'npm', 'test'])
})

test.each(['', '   ', '\n'])('an empty command is refused: "%s"', (line) => {
  expect(() => parseCommandLine(line)).toThrow(expect.objectContaining({ code: 'usage' }))
})

test.each(['a "b', `a 'b`, '"', 'a "b\\"'])('an unclosed quote is refused: %s', (line) => {
  expect(() => parseCommandLine(line)).toThrow(
    expect.objectContaining({ code: 'usage', message: expect.stringContaining('never closed') }),
  )
})

test('quoted words survive a round trip', () => {
  const words = fc.array(fc.string({ unit: 'binary' }), { minLength: 1 })
  fc.assert(
    fc.property(words, (given) => {
      const singly = given.map((word) => `'${word.replaceAll("'", `'"'"'`)}'`).join(' ')
      expect(parseCommandLine(singly)).toEqual(given)
      const doubly = given.map((word) => `"${word.replace(/["\\$`]/g, '\\$&')}"`).join('\t ')
      expect(parseCommandLine(doubly)).toEqual(given)
    }),
  )
})

test('a printed command line parses into its words', () => {
  const words = fc.array(fc.string({ unit: 'binary' }), { minLength: 1 })
  fc.assert(
    fc.property(words, (given) => {
      expect(parseCommandLine(printCommandLine(['ralph', ...given]))).toEqual(['ralph', ...given])
    }),
  )
  expect(printCommandLine(['ralph', 'task', 'approve', "it's /a b/", 'über-1.2'])).toBe(
    "ralph task approve 'it'\\''s /a b/' über-1.2",
  )
})
