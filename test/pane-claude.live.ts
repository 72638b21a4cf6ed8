/** Claude Code in a pane: what reaches it, what it reports, and what its screen shows. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { claude as agent } from '../src/agents/claude.ts'
import { claude } from './clients/claude.ts'
import { failure, type Reply } from './model-server.ts'
import { LONG, openPane } from './pane-live.ts'
import { endCarriers, until } from './ralph.ts'

const pane = openPane(claude, agent)
const { live, script, reports, reported, bash, give, ready, sight, requests, answer } = pane

// It turns every tab into four blanks before it reports the prompt.
const TAKEN = LONG.replaceAll('\t', '    ')
const HANGS = 'touch begun; while [ ! -f go ]; do sleep 0.05; done'
const says = (body: unknown, words: string) => JSON.stringify(body).includes(JSON.stringify(words).slice(1, -1))

live('takes a prompt of 30 KB, and reports its arrival before the model is asked, and its end', async () => {
  script({ text: 'It is done.' })
  const terminal = pane.open()
  expect(await reported('SessionStart')).toMatchObject({ source: 'startup', cwd: pane.place.dir })
  await give(terminal, LONG)
  const receipt = await reported('UserPromptSubmit')
  expect(receipt.prompt === TAKEN).toBe(true) // a diff of 30 KB helps nobody
  const stop = await reported('Stop')
  expect(stop).toMatchObject({ last_assistant_message: 'It is done.', prompt_id: receipt.prompt_id })
  expect(says(requests()[0], TAKEN)).toBe(true)
  await ready(terminal)
  expect(reports('PostToolUse')).toEqual([])

  script({ text: 'Again.' })
  await give(terminal, 'Once more.')
  expect(await reported('Stop')).toMatchObject({ last_assistant_message: 'Again.' })
  terminal.press('C-c')
  terminal.press('C-c')
  expect(await reported('SessionEnd')).toMatchObject({ reason: 'prompt_input_exit' })
  expect(await terminal.ended()).toBe(0)
})

live('reports a question, and its answer', async () => {
  script(bash('touch asked.txt'), { text: 'It was allowed.' })
  const terminal = pane.open({ permissions: 'ask', extraArgs: ['--permission-mode', 'default'] })
  await give(terminal, 'Ask me.')
  expect(await reported('PermissionRequest')).toMatchObject({
    tool_name: 'Bash',
    tool_input: { command: 'touch asked.txt' },
  })
  await until('the question', () => sight(terminal).asks !== undefined)
  expect(sight(terminal)).toMatchObject({ asks: 'Do you want to proceed?', input: 'unknown' })
  await answer(terminal, () => reports('PostToolUse').length > 0)
  expect(reports('PostToolUse')).toMatchObject([{ tool_name: 'Bash' }])
  expect(await reported('Stop')).toMatchObject({ last_assistant_message: 'It was allowed.' })
  terminal.close()
})

live('reports an API error, and nothing when the user interrupts it', async () => {
  script(failure(429, 'rate_limit_error', 'This request would exceed your rate limit.'))
  const terminal = pane.open()
  await give(terminal, 'Hit the limit.')
  expect(await reported('StopFailure')).toMatchObject({
    error: 'rate_limit',
    last_assistant_message: expect.stringContaining('This request would exceed your rate limit.'),
  })
  script(bash(HANGS))
  await give(terminal, 'Hang.')
  await until('the agent to work', () => existsSync(join(pane.place.dir, 'begun')), 30_000)
  expect(sight(terminal)).toEqual({ working: true, input: 'empty' })
  terminal.press('Escape')
  await ready(terminal)
  expect([reports('Stop'), reports('StopFailure')]).toEqual([[], []])
  pane.place.write('go', '')
  terminal.close()
})

live('dismisses the question about a plan limit', async () => {
  const headers = {
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-reset': '4102444800',
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
  }
  const limit: Reply = { ...failure(429, 'rate_limit_error', 'limit'), headers }
  script(limit)
  const terminal = pane.open({}, { ANTHROPIC_API_KEY: undefined, CLAUDE_CODE_OAUTH_TOKEN: 'dummy-token' })
  await give(terminal, 'Hit the limit.')
  expect(await reported('StopFailure')).toMatchObject({
    error: 'rate_limit',
    last_assistant_message: expect.stringMatching(/hit your 5-hour limit · resets Jan 1, 2100/),
  })
  await until('the question', () => sight(terminal).asks !== undefined)
  for (const key of sight(terminal).close ?? []) terminal.press(key)
  await ready(terminal)
  terminal.close()
})

live('continues its session after it was killed', async () => {
  script({ text: 'I remember.' })
  const terminal = pane.open()
  await give(terminal, 'Remember the owl.')
  const { session_id: id, transcript_path: record } = await reported('Stop')
  // Before that there is nothing to continue.
  await until('the session to be saved', () => readFileSync(String(record), 'utf8').includes('I remember.'))
  endCarriers(`RALPH_TEST=${pane.place.root}`)
  await terminal.ended()
  script({ text: 'An owl.' })
  const resumed = pane.open({ resume: { id: String(id), costUsd: 0 } })
  expect(await reported('SessionStart')).toMatchObject({ source: 'resume', session_id: id })
  await give(resumed, 'What was it?')
  expect(await reported('Stop')).toMatchObject({ session_id: id })
  expect(says(requests()[0], 'Remember the owl.')).toBe(true)
  resumed.close()
  expect(readdirSync(pane.place.dir)).not.toContain('PWNED')
})
