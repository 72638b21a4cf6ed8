/** Gemini CLI in a pane: what reaches it, and what its screen shows. It reports nothing by itself. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { gemini as agent } from '../src/agents/gemini.ts'
import { gemini } from './clients/gemini.ts'
import { LONG, openPane } from './pane-live.ts'
import { until } from './ralph.ts'
import type { Terminal } from './tmux.ts'

const pane = openPane(gemini, agent)
const { live, script, bash, give, ready, sight, requests, answer } = pane

const HANGS = 'touch begun; while [ ! -f go ]; do sleep 0.05; done'
const says = (body: unknown, words: string) => JSON.stringify(body).includes(JSON.stringify(words).slice(1, -1))
const has = (name: string) => existsSync(join(pane.place.dir, name))
const shows = (terminal: Terminal, what: string, is: () => boolean) =>
  until(what, is, 30_000).catch((cause) => {
    throw new Error(terminal.visible(), { cause })
  })

/** As a dispatcher does it: not before its screen is drawn, because it would take a paste for keys. */
async function open(changed: Parameters<typeof pane.open>[0] = {}): Promise<Terminal> {
  const terminal = pane.open(changed)
  await ready(terminal)
  await until('its screen to be drawn', () => Date.now() / 1_000 - Number(terminal.ask('window_activity')) > 2)
  return terminal
}

live('takes a prompt of 30 KB as is, asks for permission, works, and continues its session', async () => {
  script(bash(HANGS), { text: 'It is done.' })
  const terminal = await open({ permissions: 'ask' })
  await give(terminal, LONG)
  await shows(terminal, 'the question', () => sight(terminal).asks !== undefined)
  expect(sight(terminal)).toEqual({ working: false, asks: 'Allow execution of [Shell]?', input: 'unknown' })
  expect(says(requests()[0], LONG.trim())).toBe(true) // a diff of 30 KB helps nobody
  await answer(terminal, () => has('begun'))
  await shows(terminal, 'it works', () => sight(terminal).working)
  expect(sight(terminal)).toEqual({ working: true, input: 'empty' })
  pane.place.write('go', '')
  await ready(terminal)
  expect(terminal.screen()).toContain('It is done.')
  for (const key of ['C-c', 'C-c']) terminal.press(key)
  expect(await terminal.ended()).toBe(0)
  const [, id = ''] = /gemini --resume ([\da-f-]{36})/.exec(terminal.screen()) ?? []

  script({ text: 'I remember.' })
  const resumed = await open({ resume: { id, costUsd: 0 } })
  await give(resumed, 'What was it?')
  await resumed.shows('I remember.')
  expect(says(requests()[0], 'It is done.')).toBe(true)
  resumed.close()
  expect(readdirSync(pane.place.dir)).not.toContain('PWNED')
})

live('asks whether to trust a folder, and can be interrupted', async () => {
  script({ hang: true })
  const terminal = pane.open({}, { GEMINI_CLI_TRUST_WORKSPACE: undefined })
  await shows(terminal, 'the question', () => sight(terminal).asks === 'Do you trust the files in this folder?')
  // It restarts once the question is answered.
  await answer(terminal, () => sight(terminal).input === 'empty')
  await give(terminal, 'Hang.')
  await shows(terminal, 'it works', () => requests().length > 0 && sight(terminal).working)
  terminal.press('Escape')
  await ready(terminal)
  terminal.close()
})
