/** What the screens of real clients show, as `tmux capture-pane -p -J` prints them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agents } from './index.ts'
import { readScreen, type Sight } from './read-screen.ts'

const IDLE: Sight = { working: false, input: 'empty' }
const TYPED: Sight = { working: false, input: 'typed' }
const ASKING: Sight = { working: false, input: 'unknown' }
const WORKING: Sight = { working: true, input: 'empty' }

const SCREENS: Record<string, Record<string, Sight>> = {
  opencode: {
    home: IDLE,
    idle: IDLE,
    limited: IDLE,
    typed: TYPED,
    pasted: TYPED,
    menu: TYPED,
    working: WORKING,
    escaping: WORKING,
    retrying: WORKING,
    question: { ...ASKING, asks: '┃  △ Permission required' },
    choice: { ...ASKING, asks: '┃  ↑↓ select  enter submit  esc dismiss' },
    // A paste now goes into the dialog.
    dialog: { ...ASKING, asks: expect.stringMatching(/Commands +esc$/) },
  },
  kilo: {
    home: IDLE,
    pasted: TYPED,
    retrying: WORKING,
    limited: IDLE,
    question: { ...ASKING, asks: '┃  △ Permission required' },
  },
  pi: {
    idle: IDLE,
    // A line across its answer is not an edge of its editor.
    ruled: IDLE,
    limited: IDLE,
    typed: TYPED,
    pasted: TYPED,
    working: WORKING,
    retrying: WORKING,
    question: { ...ASKING, asks: '↑↓ navigate  enter select  escape/ctrl+c cancel' },
    trust: { ...ASKING, asks: '↑↓ navigate  enter select  escape/ctrl+c cancel' },
  },
}

describe.each(Object.entries(SCREENS))('%s', (name, sights) => {
  test.each(Object.entries(sights))('%s', (what, sight) => {
    const screen = agents[name]?.screen
    if (!screen) throw new Error(`${name} has no screen.`)
    const text = readFileSync(join(import.meta.dirname, 'fixtures', 'screens', `${name}-${what}.txt`), 'utf8')
    expect(readScreen(screen, text)).toEqual(sight)
  })
})
