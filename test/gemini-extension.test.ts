/** The files of Gemini's extension, and what the hook does with their texts. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseTyped } from '../src/fronts/hook/prompt.ts'

const read = (path: string) => readFileSync(path, 'utf8')
const COMMANDS = readdirSync('plugins/gemini/commands/ralph').map((file) => file.replace(/\.toml$/, ''))

/** What Gemini turns a command and its arguments into: the text of the file, and the whole line if it has arguments. */
function expanded(command: string, args: string): string {
  const [, text = ''] =
    /^prompt = (?:"""\n|")([^"]*)"/m.exec(read(`plugins/gemini/commands/ralph/${command}.toml`)) ?? []
  return args.trim() ? `${text}\n\n${`/ralph:${command} ${args}`.trim()}` : text
}

test('has every command', () => {
  expect(COMMANDS.sort()).toEqual(['cancel', 'help', 'loop', 'pause', 'resume', 'status', 'steer'])
})

test.each(COMMANDS.flatMap((name) => ['', 'abc', ' it\'s "two"\n\n  lines [x] ---'].map((args) => [name, args])))(
  '%s is recognized with %j, exactly as typed',
  (command, args) => {
    expect(parseTyped(expanded(command, args))).toEqual({ kind: 'command', command, args })
  },
)

test.each(COMMANDS)('%s runs nothing, and does not let Gemini alter what was typed', (command) => {
  expect(expanded(command, '')).not.toMatch(/\{\{|!\{|@\{/)
})

test('has the same gate as the other plugins, and the version of the package', () => {
  expect(read('plugins/gemini/hook.sh')).toBe(read('plugins/claude/hook.sh'))
  const { version } = JSON.parse(read('package.json'))
  expect(JSON.parse(read('plugins/gemini/gemini-extension.json'))).toMatchObject({ name: 'ralph', version })
})
