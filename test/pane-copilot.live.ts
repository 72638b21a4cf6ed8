/** Copilot CLI in a pane: what reaches it, what it reports, and what its screen shows. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { copilot as agent } from '../src/agents/copilot.ts'
import { readNotice } from '../src/fronts/hook/notice.ts'
import { copilot } from './clients/copilot.ts'
import { failure } from './model-server.ts'
import { LONG, openPane } from './pane-live.ts'
import { until } from './ralph.ts'
import type { Terminal } from './tmux.ts'

const pane = openPane(copilot, agent)
const { live, script, reports, reported, bash, give, ready, sight, requests, answer } = pane

// It turns every tab into four blanks before it reports the prompt.
const TAKEN = LONG.replaceAll('\t', '    ')
const says = (body: unknown, words: string) => JSON.stringify(body).includes(JSON.stringify(words).slice(1, -1))

/** It asks for trust on every start. */
async function open(changed: Parameters<typeof pane.open>[0] = {}): Promise<Terminal> {
  const terminal = pane.open(changed)
  await until('the question', () => sight(terminal).asks !== undefined, 30_000)
  expect(sight(terminal).asks).toBe('Do you trust the files in this folder?')
  await answer(terminal, () => sight(terminal).input === 'empty')
  return terminal
}

live('reports a prompt, a question, its answer and the end; continues its session', async () => {
  script(bash('touch asked.txt'), { text: 'It was allowed.' })
  const terminal = await open({ permissions: 'ask' })
  const prompt = TAKEN.slice(0, 2_000)
  await give(terminal, prompt)
  // Before its first prompt it reports nothing.
  expect(await reported('SessionStart')).toMatchObject({ source: 'new', cwd: pane.place.dir })
  const { session_id: id, ...receipt } = await reported('UserPromptSubmit')
  expect(receipt.prompt).toBe(prompt.trim())
  expect(await reported('Notification')).toMatchObject({
    notification_type: 'permission_prompt',
    message: 'Run command: touch asked.txt',
  })
  await until('the question', () => sight(terminal).asks === 'Do you want to run this command?')
  await answer(terminal, () => reports('PostToolUse').length > 0)
  const stop = await reported('Stop')
  expect(await readNotice(JSON.stringify(stop), { COPILOT_CLI: '1' }, Date.now)).toMatchObject({
    kind: 'stop',
    session: id,
    outcome: { kind: 'ok', finalText: 'It was allowed.' },
  })
  await ready(terminal)
  terminal.close()

  script({ text: 'I remember.' })
  const resumed = await open({ resume: { id: String(id), costUsd: 0 } })
  await give(resumed, 'What was it?')
  expect(await reported('Stop')).toMatchObject({ session_id: id })
  expect(says(requests()[0], 'It was allowed.')).toBe(true)
  resumed.close()
})

live('reports a long prompt in full, although it puts it into a file', async () => {
  script({ text: 'It is done.' })
  const terminal = await open()
  await give(terminal, LONG)
  const receipt = await reported('UserPromptSubmit')
  expect(receipt.prompt).toMatch(/^<pasted_content file="[^"]+" /)
  await reported('Stop')
  expect(says(requests()[0], String(receipt.prompt))).toBe(true)
  const mail = await readNotice(JSON.stringify(receipt), { COPILOT_CLI: '1' }, Date.now)
  expect(mail?.kind === 'prompt' && mail.words.trim() === TAKEN.trim()).toBe(true) // a diff of 30 KB helps nobody
  terminal.close()
})

live('reports nothing when the user interrupts it, and every failed request: the last one ends the turn', async () => {
  script(bash('touch begun; sleep 60'))
  const terminal = await open()
  await give(terminal, 'Hang.')
  await until('the agent to work', () => existsSync(join(pane.place.dir, 'begun')), 30_000)
  await until('the interruption on its screen', () => sight(terminal).working)
  for (const key of agent.screen?.interrupt ?? []) terminal.press(key)
  await ready(terminal)
  script(failure(429, 'rate_limit_exceeded', 'Please try again in 20 minutes.'))
  await give(terminal, 'Hit the limit.')
  // This soon after an interrupt it may miss Enter. A dispatcher would press it again as well.
  await until('the prompt to arrive', () => reports('UserPromptSubmit').length > 0, 5_000).catch(() =>
    terminal.press('Enter'),
  )
  await terminal.shows('Please try again in 20 minutes.')
  await ready(terminal)
  expect(reports('Stop')).toEqual([])
  const env = { COPILOT_CLI: '1', COPILOT_HOME: join(pane.place.root, 'home', '.copilot') }
  expect(await readNotice(JSON.stringify(await reported('ErrorOccurred')), env, Date.now)).toMatchObject({
    kind: 'stop',
    outcome: { kind: 'rate-limit', resetsAt: expect.any(Number) },
  })
  terminal.close()
})
