import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agents } from './index.ts'
import { readScreen, type Sight } from './read-screen.ts'

const SCREENS = join(import.meta.dirname, 'fixtures', 'screens')

const idle: Sight = { working: false, input: 'empty' }
const works: Sight = { working: true, input: 'empty' }
const typed: Sight = { working: false, input: 'typed' }
const asks = (question: string, close?: string[]): Sight => ({
  working: false,
  asks: question,
  ...(close ? { close } : {}),
  input: 'unknown',
})

/** What the real clients showed, one file per screen: `tmux capture-pane -p -J`, trailing blanks removed. */
const SEEN: Readonly<Record<string, Readonly<Record<string, Sight>>>> = {
  claude: {
    idle,
    interrupted: idle,
    denied: idle,
    limited: idle,
    working: works,
    'working-narrow': works,
    queued: works,
    retrying: works,
    typed,
    'typed-lines': typed,
    pasted: typed,
    // Another line replaces the usual one.
    'shell-mode': { working: false, input: 'unknown' },
    permission: asks('Do you want to proceed?'),
    question: asks('Enter to select · ↑/↓ to navigate · Esc to cancel'),
    trust: asks(
      'Quick safety check: Is this a project you created or one you trust? (Like your own code, a well-known open',
    ),
    'bypass-question': asks('WARNING: Claude Code running in Bypass Permissions mode'),
    login: asks('Select login method:'),
    'plan-limit': asks('What do you want to do?', ['Escape']),
  },
  codex: {
    idle,
    interrupted: idle,
    limited: idle,
    'plan-limit': idle,
    working: works,
    queued: works,
    retrying: works,
    typed,
    pasted: typed,
    permission: asks('Would you like to run the following command?'),
    trust: asks(
      'Trust this folder? Codex can read, edit, and run files here, subject to your permission settings. Folder',
    ),
    'hooks-review': asks('Hooks need review'),
    login: asks('Choose how you want to use Codex.'),
  },
}

describe.each(Object.entries(SEEN))('%s', (name, sights) => {
  test.each(Object.entries(sights))('%s', (what, sight) => {
    const screen = agents[name]?.screen
    expect(screen && readScreen(screen, shown(`${name}-${what}`))).toEqual(sight)
  })

  test('has a row for every screen that was captured', () => {
    const captured = readdirSync(SCREENS).flatMap((file) => (file.startsWith(`${name}-`) ? [file.slice(0, -4)] : []))
    expect(captured.sort()).toEqual(
      Object.keys(sights)
        .map((what) => `${name}-${what}`)
        .sort(),
    )
  })

  test('reads nothing from an empty screen', () => {
    const screen = agents[name]?.screen
    expect(screen && readScreen(screen, '\n\n')).toEqual({ working: false, input: 'unknown' })
  })
})

test('a question in the conversation is not a prompt of the client', () => {
  const { screen } = agents.claude ?? {}
  const text = shown('claude-idle').replace('● Fine.', '● Do you want to proceed?\n\n Esc to cancel · Tab to amend')
  expect(text).toContain('Esc to cancel')
  expect(screen && readScreen(screen, text)).toEqual(idle)
})

function shown(name: string): string {
  return readFileSync(join(SCREENS, `${name}.txt`), 'utf8')
}
