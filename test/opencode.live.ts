/** The real OpenCode, driven by `ralph run` against a scripted model on loopback. */
import { describe, expect } from 'vitest'
import { opencode } from './clients/opencode.ts'
import { conformance, openLive } from './conformance.ts'
import { DONE, failure } from './model-server.ts'

conformance(opencode, {
  denied: 'a denial ends its turn at once; see below',
})

const { live, run, bash } = openLive(opencode)

describe("OpenCode's own behavior", () => {
  live('a rate limit is waited for and costs no iteration, and the loop completes', async () => {
    // It makes six attempts itself, at once with this setting, before it gives up.
    const words = 'Please try again in 3 seconds.'
    const limited = { ...failure(429, 'rate_limit', words), headers: { 'retry-after-ms': '100' } }
    const ran = await run([...Array(6).fill(limited), bash('echo x > x.txt'), DONE])
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1, tokens: 2 * 120 } })
    const waits = ran.lines.filter(({ next }) => (next as { kind?: string } | undefined)?.kind === 'wait')
    expect(waits).toHaveLength(1)
    expect(waits[0]?.next).toMatchObject({ why: 'limit' })
  })

  live('asks the user when a denial has ended two turns', async () => {
    const ran = await run([bash('touch x.txt')], { args: ['--permissions', 'ask'] })
    expect(ran).toMatchObject({ code: 4, end: { status: 'needs-input' } })
    expect(ran.server.requests).toHaveLength(2)
  })

  live('an account without credit ends the loop at once', async () => {
    const ran = await run([failure(402, 'payment_required', 'You have no credits left.')])
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
  })

  live('an unknown argument ends the loop at once', async () => {
    const ran = await run([DONE], { args: ['--', '--no-such-flag'] })
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
  })
})
