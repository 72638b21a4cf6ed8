import { expect, test } from 'vitest'
import { type CommandSpec, parseArgs, printHelp } from './args.ts'

const spec: CommandSpec = {
  name: 'bake',
  words: 'CAKE [N]',
  summary: 'Bakes a cake.',
  options: {
    heat: { value: 'DEGREES', help: 'How hot.' },
    topping: { value: 'NAME', many: true, help: 'What goes on it; may be given again.' },
    eggless: { help: 'Without eggs.' },
  },
}

test.each<[what: string, argv: string[], words: string[], rest: string[]]>([
  ['nothing', [], [], []],
  ['arguments before and after options', ['one', '--heat', '9', 'two'], ['one', 'two'], []],
  ['arguments after two dashes', ['one', '--', '--heat', '--', 'x'], ['one'], ['--heat', '--', 'x']],
  ['a negative number', ['-1'], ['-1'], []],
  ['a dash', ['-'], ['-'], []],
  ['text that starts with dashes', ['--- begins'], ['--- begins'], []],
  ['an empty argument', [''], [''], []],
])('%s: words and rest', (_, argv, words, rest) => {
  expect(parseArgs(spec, argv)).toMatchObject({ words, rest })
})

test('an option has one value, many or none', () => {
  const args = parseArgs(spec, ['--heat=180', '--topping', 'nuts', '--topping=', '--eggless'])
  expect([args.text('heat'), args.many('topping'), args.flag('eggless')]).toEqual(['180', ['nuts', ''], true])
  const bare = parseArgs(spec, [])
  expect([bare.text('heat'), bare.many('topping'), bare.flag('eggless')]).toEqual([undefined, [], false])
})

test('an option can be given by its letter', () => {
  const short: CommandSpec = { ...spec, options: { output: { value: 'FILE', short: 'o', help: 'Where it goes.' } } }
  for (const argv of [['-o', 'cake'], ['-o=cake'], ['--output', 'cake']])
    expect(parseArgs(short, argv).text('output')).toBe('cake')
  expect(() => parseArgs(short, ['-o'])).toThrow('--output needs a value: --output FILE.')
  expect(() => parseArgs(short, ['-o', 'a', '--output', 'b'])).toThrow('--output can only be given once')
  expect(() => parseArgs(short, ['-x'])).toThrow('Unknown option: -x.')
  expect(printHelp(short)).toContain('  -o, --output FILE  Where it goes.\n')
})

test.each([
  ['8', 8],
  ['08', 8],
  ['0', 0],
])('%s is the whole number %i', (text, number) => {
  expect(parseArgs(spec, ['--heat', text]).whole('heat')).toBe(number)
})

test('a whole number can be too large', () => {
  const args = parseArgs(spec, ['--heat=9999999999'])
  expect(() => args.whole('heat')).toThrow('--heat must be at most 999999999, got "9999999999".')
})

test.each(['-1', 'ten', '1e3', '1.5', '', ' 8'])('"%s" is not a whole number', (text) => {
  const args = parseArgs(spec, [`--heat=${text}`])
  expect(() => args.whole('heat')).toThrow(`--heat must be a whole number, got "${text}". See \`ralph bake --help\`.`)
})

test('a whole number may have a minimum', () => {
  expect(() => parseArgs(spec, ['--heat', '1']).whole('heat', 2)).toThrow('a whole number of at least 2, got "1"')
})

test.each<[text: string, number: number | undefined]>([
  ['0.5', 0.5],
  ['12', 12],
  ['0', undefined],
  ['.5', undefined],
  ['Infinity', undefined],
  ['-2', undefined],
])('%s as an amount', (text, number) => {
  const args = parseArgs(spec, [`--heat=${text}`])
  if (number === undefined) expect(() => args.amount('heat')).toThrow('--heat must be a number above 0')
  else expect(args.amount('heat')).toBe(number)
})

test.each<[argv: string[], says: string]>([
  [['--het', '9'], 'Unknown option: --het. Did you mean --heat?'],
  [['--zzzzzz'], 'Unknown option: --zzzzzz. See'],
  [['--toString'], 'Unknown option: --toString.'],
  [['-heat'], '--heat needs a value: --heat DEGREES.'],
  [['--heat'], '--heat needs a value: --heat DEGREES.'],
  [['--heat', '--eggless'], '--heat needs a value'],
  [['--eggless=no'], '--eggless takes no value.'],
  [['--heat', '1', '--heat', '2'], '--heat can only be given once.'],
  [['a', 'b', 'c'], 'Unexpected argument: "c".'],
])('%j is refused', (argv, says) => {
  expect(() => parseArgs(spec, argv, 2)).toThrow(says)
})

test('help shows the summary, the usage, the options and the examples', () => {
  expect(printHelp({ ...spec, about: 'It takes an hour.', examples: [['ralph bake tart', 'A tart']] })).toBe(
    `Bakes a cake.

  ralph bake CAKE [N]

It takes an hour.

Options:
  --heat DEGREES  How hot.
  --topping NAME  What goes on it; may be given again.
  --eggless       Without eggs.

Examples:
  # A tart
  ralph bake tart
`,
  )
  expect(printHelp({ name: 'rest', words: '', summary: 'Rests.', options: {} })).toBe('Rests.\n\n  ralph rest\n')
})
