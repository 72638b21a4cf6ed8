import { expect, test } from 'vitest'
import type { Command } from './context.ts'
import { onDatabase, takeDatabase, withoutPasswords } from './database.ts'

const plain: Command = { spec: { name: 'x', words: '', summary: 'X.', options: {} }, run: async () => 0 }
const command = onDatabase({ ...plain, verbs: { y: plain.spec } })
const URL = 'postgres://ada:secret@db.example.com/ralph'

test('the option appears in the help of the command and its verbs', () => {
  expect(Object.keys(command.spec.options)).toEqual(['database'])
  expect(Object.keys(command.verbs?.y?.options ?? {})).toEqual(['database'])
})

test.each<[argv: string[], env: Record<string, string>, taken: object]>([
  [['a', '--database', URL, '--json'], {}, { argv: ['a', '--json'], database: URL }],
  [[`--database=${URL}`, 'a'], { RALPH_DATABASE: 'postgres://other' }, { argv: ['a'], database: URL }],
  [['a'], { RALPH_DATABASE: URL }, { argv: ['a'], database: URL }],
  [['a'], { RALPH_DATABASE: '' }, { argv: ['a'] }],
  [['a', '--database', 'none'], { RALPH_DATABASE: URL }, { argv: ['a'] }],
  [['a', '--', '--database', URL], {}, { argv: ['a', '--', '--database', URL] }],
])('%j with %j', (argv, env, taken) => {
  expect(takeDatabase(command, argv, env)).toEqual(taken)
})

test.each([[['--database']], [['--database', '--json']], [['--database=']], [['--database', '--', URL]]])(
  '%j needs a value',
  (argv) => {
    const { trouble } = takeDatabase(command, argv, { RALPH_DATABASE: URL })
    expect(trouble?.message).toBe('--database needs a value: --database URL. See `ralph x --help`.')
  },
)

test('a command without the option ignores RALPH_DATABASE', () => {
  expect(takeDatabase(plain, ['a'], { RALPH_DATABASE: URL })).toEqual({ argv: ['a'] })
  expect(takeDatabase(undefined, ['a'], { RALPH_DATABASE: URL })).toEqual({ argv: ['a'] })
})

test.each<[text: string, database: string | undefined, shown: string]>([
  [`cannot reach ${URL}`, URL, 'cannot reach ***'],
  ['postgres://ada:p@ss/word@host/db', 'postgres://ada:p@ss/word@host/db', '***'],
  ['postgres://bob:hunter2@host/db', undefined, 'postgres://***@host/db'],
  ['nothing to hide', 'postgres://ada@host/db', 'nothing to hide'],
  ['ralph waits', 'postgres://ralph:ralph@host/ralph', 'ralph waits'],
])('%s is shown without a password', (text, database, shown) => {
  expect(withoutPasswords(text, database)).toBe(shown)
})
