import { expect, test } from 'vitest'
import { parseArgs } from './args.ts'
import { readLine } from './dispatch-prompt.ts'

/** The verb and its arguments. */
function read(text: string): string[] {
  const { verb, argv } = readLine(text)
  const { spec, words, rest } = parseArgs(verb.spec, argv)
  return [spec.name.replace('dispatch ', ''), ...words, ...rest]
}

test.each<[text: string, read: string[]]>([
  ['1: fix it', ['task', '1', 'fix it']],
  ['1:fix it', ['task', '1', 'fix it']],
  ['  api:   fix  it  ', ['task', 'api', 'fix  it']],
  ['2: - do this', ['task', '2', '- do this']],
  ['2: --json', ['task', '2', '--json']],
  ['2: -- do this', ['task', '2', 'do this']],
  ['1: it\'s "done" when $x > 3; then `y`', ['task', '1', 'it\'s "done" when $x > 3; then `y`']],
  ['1: see http://example.com', ['task', '1', 'see http://example.com']],
  ['1:', ['task', '1', '']],
  ['task 1 it\'s "x"', ['task', '1', 'it\'s "x"']],
  ['say 1 use tabs', ['say', '1', 'use tabs']],
  ['say 1 -- it\'s "x"', ['say', '1', 'it\'s "x"']],
  ['say 1 --json is a flag', ['say', '1', '--json is a flag']],
  ['say 1', ['say', '1']],
  ['status', ['status']],
  ['status 1 "2"', ['status', '1', '2']],
  ['drop 1 2', ['drop', '1', '2']],
  ["add 'api'", ['add', 'api']],
])('%s', (text, expected) => {
  expect(read(text)).toEqual(expected)
})

test('options are parsed for verbs without free text', () => {
  const { verb, argv } = readLine('task 1 --file "my task.md"')
  expect(parseArgs(verb.spec, argv).text('file')).toBe('my task.md')
  expect(parseArgs(readLine('status --json').verb.spec, ['--json']).flag('json')).toBe(true)
})

test.each<[text: string, sentence: string]>([
  ['stauts', 'Unknown command: "stauts". Did you mean "status"?'],
  ['qiut', 'Did you mean "quit"?'],
  [
    'fix the tests',
    'Unknown command: "fix". To give agent 1 a task, type "1: what to do". Type "help" for all commands.',
  ],
  ['constructor', 'Unknown command: "constructor".'],
  ['drop 1 "2', 'is never closed'],
])('%s is refused with a message', (text, sentence) => {
  expect(() => readLine(text)).toThrow(sentence)
})
