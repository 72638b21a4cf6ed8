/** What other programs install: the manifests agree with each other and with the existing commands. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseTyped } from '../src/fronts/hook/prompt.ts'
import { droidCommand } from '../src/install/droid.ts'

const PLUGIN = 'plugins/claude'
const COMMANDS = ['cancel', 'help', 'loop', 'pause', 'resume', 'status', 'steer']
const MANIFESTS = ['.claude-plugin/plugin.json', '.codex-plugin/plugin.json', 'qwen-extension.json']

const read = (...path: string[]) => readFileSync(join(PLUGIN, ...path), 'utf8')
const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

/** The front matter between the two `---` lines, as far as our files use it: one `name: text` per line. */
function frontmatter(text: string): Record<string, string> {
  const [, head = ''] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? []
  return Object.fromEntries(head.split('\n').map((line) => line.split(/: (.*)/).slice(0, 2)))
}

const body = (text: string) => text.replace(/^---\n[\s\S]*?\n---\n/, '')

test('the marketplace names the plugin and points to its folder', () => {
  const { name, plugins } = json('.claude-plugin/marketplace.json')
  expect(name).toBe('ralph')
  expect(plugins).toMatchObject([{ name: 'ralph', source: `./${PLUGIN}` }])
})

test('all manifests have the same name, version and description', () => {
  const [first, ...others] = MANIFESTS.map((file) => {
    const { name, version, description } = json(join(PLUGIN, file))
    return { name, version, description }
  })
  expect(first).toMatchObject({ name: 'ralph', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
  for (const other of others) expect(other).toEqual(first)
})

test('what a manifest points to exists', () => {
  const { skills, hooks } = json(join(PLUGIN, '.codex-plugin/plugin.json'))
  const { commands } = json(join(PLUGIN, 'qwen-extension.json'))
  for (const path of [skills, hooks, commands]) expect(existsSync(join(PLUGIN, path))).toBe(true)
})

test('both events go to the gate, in a form that every version of every client knows', () => {
  const { hooks } = json(join(PLUGIN, 'hooks/hooks.json'))
  const calls = { Stop: 'stop', UserPromptSubmit: 'prompt' }
  // Older clients reject the whole file for one event they do not know.
  expect(Object.keys(hooks)).toEqual(Object.keys(calls))
  for (const [event, word] of Object.entries(calls))
    expect(hooks[event]).toEqual([
      {
        hooks: [
          {
            type: 'command',
            command: `sh "\${CLAUDE_PLUGIN_ROOT}/hook.sh" ${word}`,
            // Some count it in seconds, some in milliseconds; as seconds it still fits a timer.
            timeout: 600_000,
            statusMessage: 'ralph',
          },
        ],
      },
    ])
})

test.each(COMMANDS)('/ralph:%s has a description, is left to users, and says the same in every client', (command) => {
  const text = read('commands', `${command}.md`)
  const { description, ...rest } = frontmatter(text)
  expect(description).toMatch(/^[A-Z][^:]+$/)
  expect(rest).toMatchObject({ 'disable-model-invocation': 'true' })
  // Unquoted, brackets would be a list.
  if (rest['argument-hint'] !== undefined) expect(rest['argument-hint']).toMatch(/^".+"$/)
  expect(read('qwen-commands/ralph', `${command}.md`)).toBe(text)
  const skill = read('codex-skills', command, 'SKILL.md')
  expect(frontmatter(skill)).toEqual({ name: command, description })
  expect(body(skill)).toBe(body(text))
  expect(read('codex-skills', command, 'agents/openai.yaml')).toContain('allow_implicit_invocation: false')
})

test('there are no other commands, and none that a shell or a client would fill in', () => {
  const named = (...path: string[]) => readdirSync(join(PLUGIN, ...path)).toSorted()
  const files = COMMANDS.map((command) => `${command}.md`)
  expect(named('commands')).toEqual(files)
  expect(named('qwen-commands/ralph')).toEqual(files)
  expect(named('codex-skills')).toEqual(COMMANDS)
  for (const file of files) expect(read('commands', file)).not.toMatch(/\$|!`|!\{|@/)
})

test('npm publishes the plugins', () => {
  expect(json('package.json').files).toContain('plugins')
})

test.each(['loop', 'cancel', 'status', 'help', 'pause', 'resume', 'steer'])(
  'Droid: /ralph-%s is recognized by the text of its file',
  (name) => {
    const text = droidCommand(name, readFileSync(`plugins/claude/commands/${name}.md`, 'utf8'))
    const typed = (args: string) =>
      parseTyped(
        `<system-notification>\n${text.replace(/^---[\s\S]*?\n---\n/, '').replace('$ARGUMENTS', () => args)}\n</system-notification>`,
      )
    expect(typed('')).toEqual({ kind: 'command', command: name, args: '' })
    expect(typed('it\'s "q" $(x)\nralph:two')).toEqual({
      kind: 'command',
      command: name,
      args: 'it\'s "q" $(x)\nralph:two',
    })
  },
)
