import { describe, expect, test } from 'vitest'
import { parseTyped, readTyped } from './prompt.ts'

const skill = (name: string, args?: string) =>
  `The user explicitly invoked the "/ralph:${name}" skill. Follow its instructions now.\n\n<skill-context name="${name}">\nBase directory for this skill: /x\n\nralph:${name}\n\nText.\n${args === undefined ? '' : `\n\nARGUMENTS: ${args}`}\n</skill-context>`

describe('a command is recognized in whatever form it comes', () => {
  test.each<[prompt: string, command: string, args: string]>([
    ['/ralph:loop Build it', 'loop', 'Build it'],
    ['/ralph-loop Build it', 'loop', 'Build it'],
    ['/ralph.loop Build it', 'loop', 'Build it'],
    ['ralph:loop Build it', 'loop', 'Build it'],
    ['$ralph-loop Build it', 'loop', 'Build it'],
    ['$ralph:loop Build it', 'loop', 'Build it'],
    ['  /ralph:loop Build it \n\n', 'loop', 'Build it'],
    ['/ralph:loop', 'loop', ''],
    ['/ralph:loop\nBuild it', 'loop', '\nBuild it'],
    ['/ralph:loop\r\nBuild it', 'loop', '\r\nBuild it'],
    ['/ralph:loop\ttabs', 'loop', 'tabs'],
    [`/ralph:loop it's "q" $(x) \`y\`\n---`, 'loop', `it's "q" $(x) \`y\`\n---`],
    ['/ralph:cancel', 'cancel', ''],
    ['/cancel-ralph', 'cancel', ''],
    ['/ralph-cancel', 'cancel', ''],
    ['/ralph:status', 'status', ''],
    ['/ralph:help', 'help', ''],
    ['/ralph:pause', 'pause', ''],
    ['/ralph:resume abc', 'resume', 'abc'],
    // Gemini and Qwen: the text of the command's file, then what was typed.
    ['ralph:loop\n\n/ralph:loop  Build it', 'loop', ' Build it'],
    ['ralph:loop\n\n/ralph:loop Build\nit', 'loop', 'Build\nit'],
    ['ralph:loop\n\n/ralph:loop', 'loop', ''],
    // Droid's menu.
    [
      '<system-notification>\n\n[ralph: answers this]\n\n/ralph-loop it\'s "q"\n</system-notification>',
      'loop',
      `it's "q"`,
    ],
    ['<system-notification>\n\nralph:pause\n\n[ralph: answers this]</system-notification>', 'pause', ''],
    // Copilot's terminal.
    [skill('loop', `it's "q"\n\ntwo`), 'loop', `it's "q"\n\ntwo`],
    [skill('status'), 'status', ''],
    [skill('loop', 'write </skill-context> there'), 'loop', 'write </skill-context> there'],
    // How Claude itself records a command.
    [
      '<command-message>ralph:loop is running</command-message>\n<command-name>/ralph:loop</command-name>\n<command-args>Build <b> it</command-args>',
      'loop',
      'Build <b> it',
    ],
    ['<command-name>/ralph:status</command-name>', 'status', ''],
  ])('%j', (prompt, command, args) => {
    expect(parseTyped(prompt)).toEqual({ kind: 'command', command, args })
  })
})

test.each([
  'what is /ralph:loop?',
  'ralph: loop',
  'ralph:loops are fine',
  '/ralph:explode',
  '/ralph',
  'ralph-loop.local.md is broken',
  '/ralphloop x',
  '-ralph',
  'please run /cancel-ralph',
  'The user explicitly invoked the "/ralph:loop" skill',
  skill('explode', 'x'),
])('%j is not a command', (prompt) => {
  expect(parseTyped(prompt)).toEqual({ kind: 'prompt', words: prompt })
})

describe('an event', () => {
  test.each(['prompt', 'UserPromptSubmit', 'userPromptSubmitted', 'BeforeAgent', 'beforeSubmitPrompt'])(
    '%s says what was typed',
    (event) => {
      expect(readTyped(event, { prompt: '/ralph:pause' })).toMatchObject({ kind: 'command', command: 'pause' })
      expect(readTyped(event, { prompt: 'hello' })).toEqual({ kind: 'prompt', words: 'hello' })
    },
  )

  test('that names what was submitted is trusted', () => {
    const payload = { prompt: 'the text of a file', submitted_prompt: '/ralph:loop x' }
    expect(readTyped('UserPromptSubmit', payload)).toEqual({ kind: 'command', command: 'loop', args: 'x' })
  })

  test.each<[what: string, payload: object]>([
    ['the result of a tool', { prompt: '' }],
    ['blanks', { prompt: ' \n' }],
    ['no text at all', {}],
    ['something that is not a string', { prompt: 7 }],
    ['the end of a Copilot shell', { prompt: '<system_notification>\nShell command "x" has completed.' }],
    ['the end of a background task', { prompt: '<task-notification>\n<task-id>b1</task-id>' }],
  ])("without the user's words is ignored: %s", (_, payload) => {
    expect(readTyped('UserPromptSubmit', { ...payload })).toBeUndefined()
  })

  test('of a shim is taken as is', () => {
    expect(readTyped('command', { command: 'loop', args: ' /x ' })).toEqual({
      kind: 'command',
      command: 'loop',
      args: ' /x ',
    })
    expect(readTyped('command', { command: 'status' })).toEqual({ kind: 'command', command: 'status', args: '' })
    expect(readTyped('command', { command: 'explode' })).toBeUndefined()
    expect(readTyped('command', {})).toBeUndefined()
    expect(readTyped('woke', {})).toEqual({ kind: 'woke' })
  })

  test.each(['SubagentStop', 'StopFailure', 'SessionStart', '', 'explode'])('%j is not known', (event) => {
    expect(readTyped(event, { prompt: '/ralph:loop x' })).toBeUndefined()
  })
})
