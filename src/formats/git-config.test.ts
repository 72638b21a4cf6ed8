import { expect, test } from 'vitest'
import { isHarmless, parseSettings, printSettings, valuesOf } from './git-config.ts'

test('reads what git lists', () => {
  const listed = [
    'local',
    'file:.git/config',
    'core.bare\nfalse',
    'worktree',
    'command line:',
    'a.B "c\\.d\nx\ny',
    'global',
  ]
  expect(parseSettings(`${[...listed, 'file:/home/.gitconfig', 'core.valueless'].join('\0')}\0`)).toEqual([
    { scope: 'local', file: '.git/config', key: 'core.bare', value: 'false' },
    { scope: 'worktree', file: '', key: 'a.B "c\\.d', value: 'x\ny' },
    { scope: 'global', file: '/home/.gitconfig', key: 'core.valueless' },
  ])
})

test('prints a file with a section for each setting', () => {
  expect(printSettings([{ key: 'core.bare' }, { key: 'filter.a "b.c.clean', value: 'sh -c "x\\n"\n' }])).toBe(
    '[core]\n\tbare\n[filter "a \\"b.c"]\n\tclean = "sh -c \\"x\\\\n\\"\\n"\n',
  )
})

test('a list is one value', () => {
  const settings = [{ key: 'a.b', value: '1' }, { key: 'c.d' }, { key: 'a.b', value: '2' }]
  expect(valuesOf(settings)).toEqual(
    new Map([
      ['a.b', '\x001\x002'],
      ['c.d', '\0true'],
    ]),
  )
})

test.each([
  ['branch.main.remote', true],
  ['user.email', true],
  ['remote.origin.url', true],
  ['remote.origin.uploadpack', false],
  ['core.hookspath', false],
  ['filter.x.clean', false],
  ['include.path', false],
  ['submodule.lib.update', false],
  ['user.signingkey', false],
])('%s is harmless: %s', (key, expected) => {
  expect(isHarmless(key)).toBe(expected)
})
