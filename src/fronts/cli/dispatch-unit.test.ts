import { expect, test } from 'vitest'
import { printUnit } from './dispatch-unit.ts'

const PLAIN = { root: '/opt/ralph', config: '/home/me/config.yaml', home: '/home/me/.ralph', path: '/usr/bin:/bin' }

/** The lines of a unit by key. */
function linesOf(asked: Partial<typeof PLAIN>): Record<string, string[]> {
  const lines: Record<string, string[]> = {}
  for (const line of printUnit({ ...PLAIN, ...asked }).split('\n')) {
    const [, key, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (key) lines[key] = [...(lines[key] ?? []), value]
  }
  return lines
}

test('starts the dispatcher of a config file, and leaves its agents alone', () => {
  expect(linesOf({})).toEqual({
    Description: ['ralph dispatch (/home/me/config.yaml)'],
    After: ['network-online.target'],
    ExecStart: [`${process.execPath} /opt/ralph/bin/ralph.cjs dispatch --config /home/me/config.yaml`],
    Environment: ['RALPH_HOME=/home/me/.ralph', 'PATH=/usr/bin:/bin'],
    KillMode: ['process'],
    Restart: ['on-failure'],
    RestartSec: ['5'],
    WantedBy: ['default.target'],
  })
})

test.each<[what: string, name: string, command: string, variable: string]>([
  ['a percent sign', '/a%h', '/a%%h', 'RALPH_HOME=/a%%h'],
  ['a space', '/a b', '"/a b"', '"RALPH_HOME=/a b"'],
  ['a quote', '/a"b', '"/a\\"b"', '"RALPH_HOME=/a\\"b"'],
  ['a single quote', "/a'b", '"/a\'b"', '"RALPH_HOME=/a\'b"'],
  ['a backslash', '/a\\b', '"/a\\\\b"', '"RALPH_HOME=/a\\\\b"'],
  ['a dollar sign, which is plain in a variable', '/a$b', '"/a$$b"', '"RALPH_HOME=/a$b"'],
  ['a line break', '/a\nb', '"/a\\nb"', '"RALPH_HOME=/a\\nb"'],
  ['letters of any language', '/ä', '"/ä"', '"RALPH_HOME=/ä"'],
])('quotes a path with %s', (_, path, command, variable) => {
  const { ExecStart, Environment } = linesOf({ config: path, home: path })
  expect(ExecStart?.[0]?.split(' --config ')[1]).toBe(command)
  expect(Environment?.[0]).toBe(variable)
})

test('a description is one line without quotes', () => {
  expect(linesOf({ config: '/a b%\nc' }).Description).toEqual(['ralph dispatch (/a b%% c)'])
})
