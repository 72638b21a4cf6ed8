/** Codex in a pane: what reaches it, what it reports, and what its screen shows. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { codex as agent } from '../src/agents/codex.ts'
import { codex, planLimit } from './clients/codex.ts'
import { LONG, openPane } from './pane-live.ts'
import { endCarriers, until } from './ralph.ts'

const pane = openPane(codex, agent)
const { live, script, reports, reported, bash, give, ready, sight, requests, answer } = pane

const SENT = LONG.trim()
const HANGS = 'touch begun; while [ ! -f go ]; do sleep 0.05; done'
const ESCALATED = { cmd: 'touch asked.txt', sandbox_permissions: 'require_escalated', justification: 'a step' }
const says = (body: unknown, words: string) => JSON.stringify(body).includes(JSON.stringify(words).slice(1, -1))

live('takes a prompt of 30 KB, and reports its arrival before the model is asked, and its end', async () => {
  script({ text: 'It is done.' })
  const terminal = pane.open()
  await give(terminal, LONG)
  const receipt = await reported('UserPromptSubmit')
  expect(receipt.prompt === SENT).toBe(true) // a diff of 30 KB helps nobody
  const stop = await reported('Stop')
  expect(stop).toMatchObject({ last_assistant_message: 'It is done.', turn_id: receipt.turn_id })
  // It gets its session with the first prompt, and not before.
  expect(reports('SessionStart')).toMatchObject([{ source: 'startup', session_id: stop.session_id }])
  expect(says(requests()[0], SENT)).toBe(true)
  expect([reports('PostToolUse'), reports('PostModelRequest')]).toEqual([[], []])
  await ready(terminal)

  script({ text: 'Again.' })
  await give(terminal, 'Once more.')
  expect(await reported('Stop')).toMatchObject({ last_assistant_message: 'Again.' })
  // In the last moments of a turn the key only interrupts it.
  await until('its end', async () => {
    terminal.press('C-c')
    return (await terminal.ended(1_000).catch(() => undefined)) === 0
  })
  await reported('SessionEnd')
  // No settings file mentions it.
  expect(readFileSync(join(pane.place.root, 'home', '.codex', 'config.toml'), 'utf8')).not.toContain('hooks')
})

live('reports a question, and its answer', async () => {
  script({ tools: [{ name: 'exec_command', input: ESCALATED }] }, { text: 'It was allowed.' })
  const terminal = pane.open({ permissions: 'ask' })
  await give(terminal, 'Ask me.')
  expect(await reported('PermissionRequest')).toMatchObject({
    tool_name: 'Bash',
    tool_input: { command: ESCALATED.cmd },
  })
  await until('the question', () => sight(terminal).asks !== undefined)
  expect(sight(terminal)).toMatchObject({ asks: 'Would you like to run the following command?', input: 'unknown' })
  await answer(terminal, () => reports('PostToolUse').length > 0)
  expect(await reported('Stop')).toMatchObject({ last_assistant_message: 'It was allowed.' })
  terminal.close()
})

live('reports an API error, and a user who interrupts it', async () => {
  script(planLimit(4_102_444_800))
  const terminal = pane.open()
  await give(terminal, 'Hit the limit.')
  const failed = await reported('PostModelRequest')
  expect(failed).toMatchObject({ status: 'failed', error: expect.stringContaining('try again at Jan 1st, 2100') })
  // Only its record shows whether it retries.
  const ends = () =>
    readFileSync(String(failed.transcript_path), 'utf8')
      .split('\n')
      .flatMap((line) => (line.includes('"task_complete"') ? [JSON.parse(line).payload] : []))
  await until('the end of the turn', () => ends().length > 0)
  expect(ends()).toMatchObject([{ turn_id: failed.turn_id, error: { message: failed.error } }])

  script(bash(HANGS))
  await give(terminal, 'Hang.')
  await until('the agent to work', () => existsSync(join(pane.place.dir, 'begun')), 30_000)
  await until('the interruption on its screen', () => sight(terminal).working)
  terminal.press('Escape')
  const { turn_id: turn } = await reported('UserPromptSubmit')
  expect(await reported('Interrupt')).toMatchObject({ turn_id: turn })
  await ready(terminal)
  expect(reports('Stop')).toEqual([])
  pane.place.write('go', '')
  terminal.close()
})

live('continues its session after it was killed', async () => {
  script({ text: 'I remember.' })
  const terminal = pane.open()
  await give(terminal, 'Remember the owl.')
  const { session_id: id, transcript_path: record } = await reported('Stop')
  await until('the session to be saved', () => readFileSync(String(record), 'utf8').includes('I remember.'))
  endCarriers(`RALPH_TEST=${pane.place.root}`)
  await terminal.ended()
  script({ text: 'An owl.' })
  const resumed = pane.open({ resume: { id: String(id), costUsd: 0 } })
  await give(resumed, 'What was it?')
  expect(await reported('Stop')).toMatchObject({ session_id: id })
  expect(reports('SessionStart')).toMatchObject([{ source: 'resume', session_id: id }])
  expect(says(requests()[0], 'Remember the owl.')).toBe(true)
  resumed.close()
  expect(readdirSync(pane.place.dir)).not.toContain('PWNED')
})
