/** OpenCode and Kilo in a terminal, reporting to ralph, against a scripted model on loopback. */
import { expect } from 'vitest'
import { opencode as agent, kilo as kiloAgent } from '../src/agents/opencode.ts'
import { kilo, opencode } from './clients/opencode.ts'
import { openLive } from './conformance.ts'
import { failure } from './model-server.ts'
import { LONG_PROMPT, openPane, type Pane } from './pane.ts'
import { makePlace, until } from './ralph.ts'

const { live, start, requests, bash } = openLive(opencode)

/** Its editor appends a blank to pasted text. */
const TAKEN = `${LONG_PROMPT} `

live(
  'reports a long prompt, a question and a turn, and continues its session after it was killed',
  async ({ skip }) => {
    const place = makePlace()
    const env = await start([bash('echo 1 > one.txt'), { text: 'It ran.' }, { text: 'It went on.' }], place)
    const pane = openPane(agent, place, { env, skip })
    await pane.reported('started')
    await pane.terminal.paste(LONG_PROMPT)
    const { session_id } = await pane.reported('session')
    const session = { host: 'opencode', session_id: expect.stringMatching(/^ses_/) }
    const prompt = await pane.reported('prompt')
    expect(prompt).toMatchObject({ ...session, session_id, prompt: TAKEN })
    expect(await pane.reported('asks')).toMatchObject({
      ...session,
      question: 'It asks for permission: bash echo 1 > one.txt',
    })
    await pane.terminal.shows('Allow once')
    pane.terminal.press('Enter')
    await pane.reported('answered')
    expect(await pane.reported('stop')).toMatchObject({
      ...{ ...session, turn: prompt.turn, outcome: 'completed', last_assistant_message: 'It ran.' },
      ...{ tokens: 240, cost_usd: expect.closeTo(0.0006, 6), ran: ['echo 1 > one.txt'] },
    })
    expect(JSON.stringify(requests()[0])).toContain(JSON.stringify(TAKEN))
    const reports = ['started', 'session', 'prompt', 'asks', 'answered', 'stop']
    expect(pane.reports().map(({ event }) => event)).toEqual(reports)
    await pane.kill()

    const resume = { id: String(session_id), costUsd: 0 }
    const again = openPane(agent, place, { env, skip, request: { resume } })
    expect(await again.reported('started', 2)).toMatchObject({ session_id })
    await again.terminal.paste('Go on.')
    expect(await again.reported('stop', 2)).toMatchObject({ session_id, last_assistant_message: 'It went on.' })
    expect(JSON.stringify(requests().at(-1))).toContain('It ran.')
  },
)

live('reports a rate limit when its own retries are used up, an escape, and another session', async ({ skip }) => {
  const soon = { headers: { 'retry-after-ms': '50' } }
  const limited = { ...failure(429, 'rate_limit_exceeded', 'Please try again in 20 minutes.'), ...soon }
  const place = makePlace()
  const env = await start([...Array(6).fill(limited), { hang: true }, { text: 'Another.' }], place)
  const pane = openPane(agent, place, { env, skip })
  await pane.reported('started')
  await pane.terminal.paste('Work.')
  const stop = await pane.reported('stop')
  expect(stop).toMatchObject({ outcome: 'error', error_message: '429 Please try again in 20 minutes.' })
  await pane.terminal.paste('Work again.')
  await until('the model is asked', () => requests().length === 7)
  await interrupt(pane)
  expect(await pane.reported('stop', 2)).toMatchObject({ outcome: 'aborted' })
  await pane.terminal.submit('/new')
  await pane.terminal.shows('Ask anything')
  await pane.terminal.paste('Something else.')
  const { session_id } = await pane.reported('stop', 3)
  expect(session_id).not.toBe(stop.session_id)
})

/** It asks for the key twice. */
async function interrupt({ terminal }: Pane): Promise<void> {
  await terminal.shows('esc interrupt')
  terminal.press('Escape')
  await terminal.shows('again to interrupt')
  terminal.press('Escape')
}

const other = openLive(kilo)

other.live('Kilo reports the same, and asks nothing if it may do everything', async ({ skip }) => {
  const place = makePlace()
  const env = await other.start([other.bash('echo 1 > one.txt'), { text: 'It ran.' }], place)
  const pane = openPane(kiloAgent, place, { env, skip, request: { permissions: 'bypass' } })
  await pane.reported('started')
  await pane.terminal.paste(LONG_PROMPT)
  expect(await pane.reported('prompt')).toMatchObject({ host: 'kilo', prompt: TAKEN })
  expect(await pane.reported('stop')).toMatchObject({ outcome: 'completed', last_assistant_message: 'It ran.' })
  expect(pane.reports().map(({ event }) => event)).toEqual(['started', 'session', 'prompt', 'stop'])
})
