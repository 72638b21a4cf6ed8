/** What the screens of more real clients show, as `tmux capture-pane -p -J` prints them, trailing blanks removed. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agents } from './index.ts'
import { readScreen, type Sight } from './read-screen.ts'

const SCREENS = join(import.meta.dirname, 'fixtures', 'screens')

const IDLE: Sight = { working: false, input: 'empty' }
const TYPED: Sight = { working: false, input: 'typed' }
const WORKING: Sight = { working: true, input: 'empty' }
const WORKING_TYPED: Sight = { working: true, input: 'typed' }
const asks = (question: string): Sight => ({ working: false, asks: question, input: 'unknown' })

const SEEN: Readonly<Record<string, Readonly<Record<string, Sight>>>> = {
  gemini: {
    idle: IDLE,
    // In a terminal with many colors, the line has other edges.
    'idle-wide': IDLE,
    'idle-yolo': IDLE,
    interrupted: IDLE,
    typed: TYPED,
    // Enter came too soon and became a line break.
    'typed-lines': TYPED,
    pasted: TYPED,
    working: WORKING,
    'working-typed': WORKING_TYPED,
    'shell-mode': { working: true, input: 'unknown' },
    permission: asks('Allow execution of [Shell]?'),
    trust: asks('Do you trust the files in this folder?'),
    login: asks('How would you like to authenticate for this project?'),
    'limit-question': asks('Usage limit reached for gemini-2.5-flash.'),
  },
  copilot: {
    idle: IDLE,
    'idle-wide': IDLE,
    interrupted: IDLE,
    limited: IDLE,
    typed: TYPED,
    pasted: TYPED,
    working: WORKING,
    queued: WORKING,
    'working-typed': WORKING_TYPED,
    permission: asks('Do you want to run this command?'),
    trust: asks('Do you trust the files in this folder?'),
  },
  qwen: {
    idle: IDLE,
    'idle-yolo': IDLE,
    interrupted: IDLE,
    limited: IDLE,
    typed: TYPED,
    pasted: TYPED,
    // A suggestion looks like typed text, so a pane turns suggestions off.
    suggestion: TYPED,
    working: WORKING,
    'working-typed': WORKING_TYPED,
    permission: asks("Allow execution of: 'touch, sleep'?"),
    login: asks('Connect a Provider'),
  },
  droid: {
    idle: IDLE,
    'idle-wide': IDLE,
    interrupted: IDLE,
    failed: IDLE,
    typed: TYPED,
    pasted: TYPED,
    working: WORKING,
    retrying: WORKING,
    'working-typed': WORKING_TYPED,
    permission: asks('Command to approve · high risk'),
    trust: asks('Trust this folder?'),
  },
}

describe.each(Object.entries(SEEN))('%s', (name, sights) => {
  const shown = (what: string) => readFileSync(join(SCREENS, `${name}-${what}.txt`), 'utf8')
  const see = (text: string) => {
    const screen = agents[name]?.screen
    if (!screen) throw new Error(`${name} has no screen.`)
    return readScreen(screen, text)
  }

  test.each(Object.entries(sights))('%s', (what, sight) => {
    expect(see(shown(what))).toEqual(sight)
  })

  test('has a row for every screen that was captured', () => {
    const captured = readdirSync(SCREENS).flatMap((file) =>
      file.startsWith(`${name}-`) ? [file.slice(name.length + 1, -4)] : [],
    )
    expect(captured.sort()).toEqual(Object.keys(sights).sort())
  })

  test('reads nothing from an empty screen', () => {
    expect(see('\n\n')).toEqual({ working: false, input: 'unknown' })
  })

  test('the topic of the conversation is neither work nor a question', () => {
    const words = [
      'Do you want to proceed?',
      '● Working · 5 B esc esc interrupt',
      '> typed',
      '❯ typed',
      '(esc to cancel, 1s)',
    ]
    const talk = words.map((line) => `    ${line}`).join('\n')
    expect(see(`${talk}\n${shown('idle')}`)).toEqual(IDLE)
  })
})
