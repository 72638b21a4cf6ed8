/** Pi in a terminal, reporting to ralph, against a scripted model on loopback. */
import { expect, type TestContext } from 'vitest'
import { pi as agent } from '../src/agents/pi.ts'
import { pi } from './clients/pi.ts'
import { openLive } from './conformance.ts'
import { failure, type Reply } from './model-server.ts'
import { LONG_PROMPT, openPane, type Pane } from './pane.ts'
import { makePlace } from './ralph.ts'

const { live, start, requests, bash } = openLive(pi)

async function open(replies: Reply[], { skip }: TestContext): Promise<Pane> {
  const place = makePlace()
  return openPane(agent, place, { env: await start(replies, place), skip })
}

/** Its editor turns a tab into four blanks. */
const TAKEN = LONG_PROMPT.replaceAll('\t', '    ')

live('reports that it took a long prompt whole, and the outcome of its turn', async (context) => {
  const pane = await open([bash('echo 1 > one.txt'), { text: 'The work is done.' }], context)
  const started = await pane.reported('started')
  await pane.terminal.paste(LONG_PROMPT)
  const prompt = await pane.reported('prompt')
  const stop = await pane.reported('stop')
  const session = { host: 'pi', session_id: expect.stringMatching(/^[\da-f-]{36}$/) }
  expect(started).toMatchObject(session)
  expect(prompt).toMatchObject({ ...session, prompt: TAKEN })
  expect(stop).toMatchObject({ ...session, turn: prompt.turn, outcome: 'completed' })
  expect(stop.last_assistant_message).toBe('The work is done.')
  expect(stop).toMatchObject({ tokens: 240, cost_usd: expect.closeTo(0.00028, 6), ran: ['echo 1 > one.txt'] })
  expect(JSON.stringify(requests()[0])).toContain(JSON.stringify(TAKEN))
  expect(pane.reports().map(({ event }) => event)).toEqual(['started', 'prompt', 'stop'])
})

live('reports a rate limit when its own retries are used up, an escape, and another session', async (context) => {
  const limited = failure(429, 'rate_limit_error', 'Limit reached. Please try again in 20s.')
  const pane = await open([limited, limited, { hang: true }], context)
  await pane.reported('started')
  await pane.terminal.paste('Work.')
  expect(await pane.reported('stop')).toMatchObject({
    outcome: 'error',
    error_message: expect.stringMatching(/^429: .*try again in 20s/),
  })
  await pane.terminal.paste('Work again.')
  await pane.reported('prompt', 2)
  await pane.terminal.shows('Working')
  pane.terminal.press('Escape')
  expect(await pane.reported('stop', 2)).toMatchObject({ outcome: 'aborted' })
  await pane.terminal.submit('/new')
  const { session_id } = await pane.reported('session')
  expect(session_id).not.toBe(pane.reports()[0]?.session_id)
})

live('reports a question and its answer, and continues its session after it was killed', async ({ skip }) => {
  const place = makePlace()
  place.write(
    '.pi/extensions/ask.js',
    `export default (pi) => pi.on('tool_call', async ({ input }, { ui }) => {
       if (!(await ui.confirm('Run it?', input.command))) return { block: true, reason: 'no' }
     })`,
  )
  const env = await start([bash('echo 1 > one.txt'), { text: 'It ran.' }, { text: 'It went on.' }], place)
  const pane = openPane(agent, place, { env, skip })
  expect(await pane.reported('asks')).toMatchObject({ question: 'Trust the project folder?' })
  pane.terminal.press('Enter')
  await pane.reported('answered')
  const { session_id } = await pane.reported('started')
  await pane.terminal.paste('Work.')
  expect(await pane.reported('asks', 2)).toMatchObject({ session_id, question: 'Run it?' })
  await pane.terminal.shows('Run it?')
  pane.terminal.press('Enter')
  await pane.reported('answered', 2)
  expect(await pane.reported('stop')).toMatchObject({ last_assistant_message: 'It ran.' })
  await pane.kill()

  const resume = { id: String(session_id), costUsd: 0 }
  const again = openPane(agent, place, { env, skip, request: { resume } })
  expect(await again.reported('started', 2)).toMatchObject({ session_id })
  await again.terminal.paste('Go on.')
  expect(await again.reported('stop', 2)).toMatchObject({ session_id, last_assistant_message: 'It went on.' })
  expect(JSON.stringify(requests().at(-1))).toContain('It ran.')
})
