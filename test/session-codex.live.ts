/** Loops in Codex's own session. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { codex } from './clients/codex.ts'
import { failure } from './model-server.ts'
import { until } from './ralph.ts'
import { always, answersItself, enter, openSitting, steered } from './session-live.ts'
import { type Seat, situations } from './session-scenarios.ts'
import { hasTmux, type Terminal } from './tmux.ts'

const BYPASS = '--dangerously-bypass-approvals-and-sandbox'

/** It asks about hooks once. */
let isTrusted = false

async function trust(terminal: Terminal): Promise<void> {
  await terminal.shows('Hooks need review', 60_000)
  const chosen = () => terminal.screen().includes('› 2. Trust all')
  // The dialog is on the screen a moment before it accepts keys.
  while (!chosen()) {
    terminal.press('2')
    await until('the choice', chosen, 1_000).catch(() => {})
  }
  terminal.press('Enter')
}

const host: Seat = {
  client: codex,
  messagesIn: ({ stderr }) => stderr,
  install: (root) => [
    ['codex', 'plugin', 'marketplace', 'add', root],
    ['codex', 'plugin', 'add', 'ralph@ralph'],
  ],
  headless: ['codex', 'exec', '--dangerously-bypass-hook-trust', BYPASS, '-'],
  stdin: true,
  terminal: ['codex', '--no-daemon', BYPASS],
  prefix: '$ralph:',
  face: '.codex',
  async ready(terminal) {
    if (!isTrusted) await trust(terminal)
    isTrusted = true
    await terminal.shows('Ask Codex')
  },
  again: ['resume', '--last'],
  rests: always('interrupted'),
  clear: (terminal) => enter(terminal, '/clear', () => !terminal.visible().includes('interrupted')),
  compacted: /Context compacted/,
  fails: { reply: failure(500, 'api_error', 'Internal server error'), shown: /experiencing high demand/ },
  settle(home) {
    const file = join(home, '.codex', 'config.toml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('plugins = false', 'plugins = true'))
  },
}

const sitting = openSitting(host)

situations(host, sitting)
answersItself(host, sitting, ({ stderr }) => stderr)

const { live, bash, script, requests, ask, newest } = sitting

live('codex escapes brackets: it is asked for a sign without them, and understood with them', async () => {
  const tag = '&lt;promise&gt;COMPLETE&lt;/promise&gt;'
  script([bash('echo 1 > a.txt'), { text: 'Step 1.' }, bash('echo 2 > a.txt'), { text: `All done.\n\n${tag}` }])
  await ask('$ralph:loop Keep <b> & "c". --completion-promise COMPLETE')
  expect(JSON.stringify(requests()[0])).toContain('Keep <b> & \\"c\\".')
  const second = JSON.stringify(requests()[2])
  expect(second).not.toContain('Keep &lt;b&gt;') // it has the task from its first turn
  expect(second).toContain(`The task is in ${join(sitting.place.dir, sitting.face)}.`)
  expect(second).toContain('put `TASK_COMPLETE` alone on the last line')
  expect(second).not.toContain('&lt;promise')
  expect(await newest()).toMatchObject({ status: 'completed', iterations: 2 })
})

live('codex would truncate a long prompt: it is pointed to the loop file', async () => {
  sitting.place.write('long.md', 'Keep every word of this line. '.repeat(800))
  script([bash(`wc -c < ${sitting.face} > size.txt`), { text: 'Step 1.' }, { text: 'TASK_COMPLETE' }])
  await ask('$ralph:loop --file long.md')
  for (const request of [requests()[0], requests()[2]]) {
    expect(JSON.stringify(request)).toContain(`The task is in the file ${join(sitting.place.dir, sitting.face)}`)
    expect(JSON.stringify(request)).not.toContain('truncated output')
  }
  expect(Number(sitting.place.read('size.txt'))).toBeGreaterThan(24_000)
  expect(await newest()).toMatchObject({ status: 'completed', iterations: 2 })
})

live('codex gets a message for the next iteration, and does not pause', async ({ skip }) => {
  skip(!hasTmux, 'tmux is not installed')
  await steered(host, sitting, await sitting.terminal())
})
