/** The real GitHub Copilot CLI, driven by `ralph run` against a scripted model on loopback. */
import { describe, expect } from 'vitest'
import { copilot } from './clients/copilot.ts'
import { conformance, openLive } from './conformance.ts'
import { DONE, failure } from './model-server.ts'

conformance(copilot)

const { live, run, bash } = openLive(copilot)

describe("Copilot's own behavior", () => {
  live('a rate limit is waited for and costs no iteration, and the loop completes', async () => {
    // It makes six attempts itself, a second apart with this setting, before it gives up.
    const limited = { ...failure(429, 'rate_limit', 'Please try again in 3 seconds.'), headers: { 'retry-after': '1' } }
    const ran = await run([...Array(6).fill(limited), bash('echo x > x.txt'), DONE])
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1, tokens: 2 * 120 } })
    const waits = ran.lines.filter(({ next }) => (next as { kind?: string } | undefined)?.kind === 'wait')
    expect(waits).toHaveLength(1)
    expect(waits[0]?.next).toMatchObject({ why: 'limit' })
  })

  live('a model that does not exist ends the loop at once', async () => {
    const ran = await run([failure(404, 'model_not_found', 'The model `nope` does not exist.')], {
      args: ['--model', 'nope'],
    })
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
  })

  live('without a login, the loop ends at once', async () => {
    const ran = await run([DONE], {
      env: {
        COPILOT_OFFLINE: undefined,
        COPILOT_PROVIDER_BASE_URL: undefined,
        COPILOT_PROVIDER_API_KEY: undefined,
        HTTPS_PROXY: 'http://127.0.0.1:1', // nor is any other service asked
      },
    })
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
    expect(ran.end.sentence).toContain('No authentication information')
  })
})
