/** Loops in Codex's own session. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codex } from './clients/codex.ts'
import { until } from './ralph.ts'
import { answersItself, type Host, headlessEndings, openSitting, terminalEndings } from './session-live.ts'
import { hasTmux } from './tmux.ts'

const BYPASS = '--dangerously-bypass-approvals-and-sandbox'

const host: Host = {
  client: codex,
  install: (root) => [
    ['codex', 'plugin', 'marketplace', 'add', root],
    ['codex', 'plugin', 'add', 'ralph@ralph'],
  ],
  headless: ['codex', 'exec', '--dangerously-bypass-hook-trust', BYPASS, '-'],
  stdin: true,
  terminal: ['codex', '--no-daemon', BYPASS],
  prefix: '$ralph:',
  face: '.codex',
  settle(home) {
    const file = join(home, '.codex', 'config.toml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('plugins = false', 'plugins = true'))
  },
}

const sitting = openSitting(host)

headlessEndings(host, sitting)
answersItself(host, sitting)

sitting.live('codex in a terminal: four loops in one session, each ends in another way', async ({ skip }) => {
  skip(!hasTmux, 'tmux is not here')
  const terminal = sitting.open()
  await terminal.shows('Hooks need review', 60_000)
  const chosen = () => terminal.screen().includes('› 2. Trust all')
  // The dialog is on the screen a moment before it takes keys.
  while (!chosen()) {
    terminal.press('2')
    await until('the choice', chosen, 1_000).catch(() => {})
  }
  terminal.press('Enter')
  await terminal.shows('Ask Codex')
  await terminalEndings(host, sitting, terminal)
  terminal.close()
})
