/** The real Pi, driven by `ralph run` against a scripted model on loopback. */
import { describe, expect } from 'vitest'
import { pi } from './clients/pi.ts'
import { conformance, openLive } from './conformance.ts'
import { DONE, failure } from './model-server.ts'

conformance(pi, { denied: 'it has no permissions' })

const { live, run, bash } = openLive(pi)

describe("Pi's own behavior", () => {
  live('a model that does not exist ends the loop at once', async () => {
    const ran = await run([DONE], { args: ['--model', 'nope'] })
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
    expect(ran.end.sentence).toContain('"nope" not found')
  })

  live('an account without credit ends the loop at once', async () => {
    const ran = await run([failure(429, 'insufficient_quota', 'You exceeded your current quota.')])
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
  })

  live('a rate limit with a reset time is waited for, and costs no iteration', async () => {
    const limited = failure(429, 'rate_limit_error', 'Limit reached. Please try again in 4s.')
    const ran = await run([limited, limited, bash('echo x > x.txt'), DONE])
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1 } })
    const waits = ran.lines.filter(({ next }) => (next as { kind?: string } | undefined)?.kind === 'wait')
    expect(waits[0]?.next).toMatchObject({ why: 'limit' })
  })

  live('a full context starts a new session, even where one session is kept', async () => {
    const ran = await run([bash('echo 1 > a.txt'), { text: 'First.' }, pi.contextFull], {
      args: ['--context', 'same', '--max-iterations', '3'],
    })
    expect(JSON.stringify(ran.server.requests.at(-1))).not.toContain('First.')
    expect(JSON.stringify(ran.server.requests.at(-1))).toContain('Your context was full')
  })
})
