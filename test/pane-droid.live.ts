/** Droid in a pane: what reaches it, what it reports, and what its screen shows. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { droid as agent } from '../src/agents/droid.ts'
import { readNotice } from '../src/fronts/hook/notice.ts'
import { droid } from './clients/droid.ts'
import { failure } from './model-server.ts'
import { LONG, openPane } from './pane-live.ts'
import { until } from './ralph.ts'

const pane = openPane(droid, agent)
const { live, script, reports, reported, bash, give, ready, sight, requests, answer } = pane

const says = (body: unknown, words: string) => JSON.stringify(body).includes(JSON.stringify(words).slice(1, -1))
const mailOf = (payload: object) =>
  readNotice(JSON.stringify(payload), { FACTORY_PROJECT_DIR: pane.place.dir }, Date.now)

live('takes a prompt of 30 KB as is, reports a question, its answer and its end; continues its session', async () => {
  script(bash('touch asked.txt'), { text: 'It was allowed.' })
  const terminal = pane.open({ permissions: 'ask' })
  await until('the question', () => sight(terminal).asks === 'Trust this folder?', 30_000)
  await answer(terminal, () => sight(terminal).input === 'empty')
  expect(await reported('SessionStart')).toMatchObject({ source: 'startup', cwd: pane.place.dir })
  await give(terminal, LONG)
  const { session_id: id, prompt } = await reported('UserPromptSubmit')
  expect(String(prompt).trim() === LONG.trim()).toBe(true) // a diff of 30 KB helps nobody
  expect(await reported('Notification')).toMatchObject({ notification_type: 'permission_prompt' })
  await until('the question', () => sight(terminal).asks === 'Command to approve · high risk')
  await answer(terminal, () => reports('PostToolUse').length > 0)
  expect(await mailOf(await reported('Stop'))).toMatchObject({
    kind: 'stop',
    session: id,
    outcome: { kind: 'ok', finalText: 'It was allowed.' },
  })
  expect(says(requests()[0], LONG.trim())).toBe(true)
  await ready(terminal)
  for (const key of ['C-c', 'C-c']) terminal.press(key)
  await terminal.ended()

  script({ text: 'I remember.' })
  const resumed = pane.open({ resume: { id: String(id), costUsd: 0 } })
  expect(await reported('SessionStart')).toMatchObject({ session_id: id })
  await give(resumed, 'What was it?')
  expect(await reported('Stop')).toMatchObject({ session_id: id })
  expect(says(requests()[0], 'It was allowed.')).toBe(true)
  resumed.close()
})

live('reports an API error, and that the user interrupted a tool', async () => {
  script(failure(401, 'authentication_error', 'Bad key.'))
  const terminal = pane.open()
  await give(terminal, 'Fail.')
  expect(await mailOf(await reported('Stop'))).toMatchObject({
    kind: 'stop',
    outcome: { kind: 'auth', message: expect.stringContaining('Bad key.') },
  })
  script(bash('touch begun; sleep 60'))
  await give(terminal, 'Hang.')
  await until('the agent to work', () => existsSync(join(pane.place.dir, 'begun')), 30_000)
  expect(sight(terminal)).toEqual({ working: true, input: 'empty' })
  terminal.press('Escape')
  expect(await mailOf(await reported('Stop'))).toMatchObject({ outcome: 'aborted' })
  await ready(terminal)
  terminal.close()
})
