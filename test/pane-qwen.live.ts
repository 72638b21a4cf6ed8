/** Qwen Code in a pane: what reaches it, what it reports, and what its screen shows. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { qwen as agent } from '../src/agents/qwen.ts'
import { qwen } from './clients/qwen.ts'
import { failure } from './model-server.ts'
import { LONG, openPane } from './pane-live.ts'
import { until } from './ralph.ts'

const pane = openPane(qwen, agent)
const { live, script, reports, reported, bash, give, ready, sight, requests, answer } = pane

const says = (body: unknown, words: string) => JSON.stringify(body).includes(JSON.stringify(words).slice(1, -1))

live('takes a prompt of 30 KB as is, reports a question, its answer and its end; continues its session', async () => {
  script(bash('touch asked.txt'), { text: 'It was allowed.' })
  const terminal = pane.open({ permissions: 'ask', extraArgs: ['--approval-mode', 'default'] })
  expect(await reported('SessionStart')).toMatchObject({ source: 'startup', cwd: pane.place.dir })
  await give(terminal, LONG)
  const { session_id: id, prompt_id, prompt } = await reported('UserPromptSubmit')
  expect(prompt === LONG.trim()).toBe(true) // a diff of 30 KB helps nobody
  expect(await reported('Notification')).toMatchObject({ notification_type: 'permission_prompt' })
  await until('the question', () => sight(terminal).asks === "Allow execution of: 'touch'?").catch((cause) => {
    throw new Error(terminal.visible(), { cause })
  })
  await answer(terminal, () => reports('PostToolUse').length > 0)
  expect(await reported('Stop')).toMatchObject({ prompt_id, last_assistant_message: 'It was allowed.' })
  expect(says(requests()[0], LONG.trim())).toBe(true)
  await ready(terminal)
  terminal.close()
  // It was not asked for suggestions.
  expect(requests()).toHaveLength(2)

  script({ text: 'I remember.' })
  const resumed = pane.open({ resume: { id: String(id), costUsd: 0 } })
  expect(await reported('SessionStart')).toMatchObject({ source: 'resume', session_id: id })
  await give(resumed, 'What was it?')
  expect(await reported('Stop')).toMatchObject({ session_id: id, last_assistant_message: 'I remember.' })
  expect(says(requests()[0], 'It was allowed.')).toBe(true)
  resumed.close()
})

live('reports an API error, and nothing when the user interrupts it', async () => {
  script(failure(429, 'rate_limit_error', 'Please try again in 20 minutes.'))
  const terminal = pane.open()
  await give(terminal, 'Hit the limit.')
  expect(await reported('StopFailure')).toMatchObject({
    error: 'rate_limit',
    error_details: expect.stringContaining('429'),
  })
  script(bash('touch begun; sleep 60'))
  await give(terminal, 'Hang.')
  await until('the agent to work', () => existsSync(join(pane.place.dir, 'begun')), 30_000)
  expect(sight(terminal)).toEqual({ working: true, input: 'empty' })
  terminal.press('Escape')
  await ready(terminal)
  expect([reports('Stop'), reports('StopFailure')]).toEqual([[], []])
  terminal.close()
})
