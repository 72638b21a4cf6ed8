/** Loops in Droid's own session. */
import { droid } from './clients/droid.ts'
import { failure } from './model-server.ts'
import { enter, openSitting } from './session-live.ts'
import { movesToNewSession, type Seat, situations, steers } from './session-scenarios.ts'

const host: Seat = {
  client: droid,
  messagesIn: ({ stderr }) => stderr,
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
  terminalPrefix: 'ralph:', // now and then it forgets the commands of a plugin
  late: true,
  face: '.factory',
  async ready(terminal) {
    await terminal.shows(/Trust this folder|for help/, 60_000)
    if (terminal.visible().includes('Trust this folder')) terminal.press('Enter')
    await terminal.shows('for help')
  },
  answering: /Streaming\.\.\.\s+\(Press ESC to stop\)/,
  again: ['--resume', '--last'],
  rests: { tool: 'paused', answer: 'interrupted', error: 'paused' },
  clear: (terminal) => enter(terminal, '/clear', () => !terminal.visible().includes('Forget this')),
  // It keeps retrying after other errors for a long time.
  fails: { reply: failure(400, 'invalid_request_error', 'No such thing.'), shown: /No such thing/ },
  compact: '/compress',
  compacted: /Loaded summary from session/,
}

const sitting = openSitting(host)

situations(host, sitting, { 'typed meanwhile': steers, '/compact': movesToNewSession })
