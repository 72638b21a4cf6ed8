/** The real Gemini CLI, driven by `ralph run` against a scripted model on loopback. */
import { describe, expect } from 'vitest'
import { gemini } from './clients/gemini.ts'
import { conformance, openLive } from './conformance.ts'
import { DONE } from './model-server.ts'

conformance(gemini)

const { live, run, bash } = openLive(gemini)

describe("Gemini's own behavior", () => {
  live('a model that does not exist ends the loop at once', async () => {
    const ran = await run([{ status: 404, error: { type: 'NOT_FOUND', message: 'models/nope is not found' } }], {
      args: ['--model', 'nope'],
    })
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
  })

  live('a rate limit with a delay is waited for, and costs no iteration', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '20s' }]
    const body = { error: { code: 429, message: 'Quota exceeded.', status: 'RESOURCE_EXHAUSTED', details } }
    const begun = Date.now()
    const ran = await run([{ status: 429, body }, bash('echo x > x.txt'), DONE])
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1 } })
    const waits = ran.lines.filter(({ next }) => (next as { kind?: string } | undefined)?.kind === 'wait')
    const { why, until } = (waits[0]?.next ?? {}) as { why?: string; until?: number }
    expect(why).toBe('limit')
    expect(Number(until) - begun).toBeGreaterThan(20_000) // counted from the start of the turn
    expect(Number(until) - begun).toBeLessThan(35_000)
  })
})
