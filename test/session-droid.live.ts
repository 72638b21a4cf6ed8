/** Loops in Droid's own session. */
import { expect } from 'vitest'
import { droid } from './clients/droid.ts'
import { type Host, headlessEndings, openSitting, terminalEndings } from './session-live.ts'
import { hasTmux } from './tmux.ts'

const host: Host = {
  client: droid,
  hears: ({ stderr }) => stderr,
  // It names a marketplace after its folder.
  install: (root) => [
    ['droid', 'plugin', 'marketplace', 'add', root],
    ['droid', 'plugin', 'install', `ralph@${root.split('/').at(-1)}`],
  ],
  headless: ['droid', 'exec', '--skip-permissions-unsafe'],
  stdin: true,
  terminal: ['droid', '--auto', 'high'],
  stopped: /Request cancelled by user/,
  stands: /1 failed\s+└─ ralph: paused after 2 iterations/,
  prefix: '/ralph:',
  late: true,
  face: '.factory',
}

const sitting = openSitting(host)

headlessEndings(host, sitting)

sitting.live('droid in a terminal: four loops in one session, each ends in another way', async ({ skip }) => {
  skip(!hasTmux, 'tmux is not here')
  const terminal = sitting.open()
  await terminal.shows('Trust this folder', 60_000)
  terminal.press('Enter')
  await terminal.shows('for help')
  await terminalEndings({ ...host, prefix: 'ralph:' }, sitting, terminal)
  expect(terminal.screen()).not.toMatch(/"(decision|systemMessage|hookSpecificOutput)"/)
  terminal.close()
})
