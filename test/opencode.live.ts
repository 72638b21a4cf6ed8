/** OpenCode itself, driven by `ralph run` against a scripted model on loopback. */
import { describe, expect } from 'vitest'
import { opencode } from './clients/opencode.ts'
import { conformance, openLive } from './conformance.ts'
import { DONE, failure } from './model-server.ts'

conformance(opencode, {
  denied: 'a denial ends its turn at once; see below',
})

const { live, run, bash } = openLive(opencode)

describe('opencode in its own ways', () => {
  live('is limited, waited for until the limit ends, and completes, at no cost of an iteration', async () => {
    // It tries six times by itself, at once when it is told so, before it gives up.
    const words = 'Please try again in 3 seconds.'
    const limited = { ...failure(429, 'rate_limit', words), headers: { 'retry-after-ms': '100' } }
    const ran = await run([...Array(6).fill(limited), bash('echo x > x.txt'), DONE])
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1, tokens: 2 * 120 } })
    const waits = ran.lines.filter(({ next }) => (next as { kind?: string } | undefined)?.kind === 'wait')
    expect(waits).toHaveLength(1)
    expect(waits[0]?.next).toMatchObject({ why: 'limit' })
  })

  live('asks a person when a denial has ended two turns', async () => {
    const ran = await run([bash('touch x.txt')], { args: ['--permissions', 'ask'] })
    expect(ran).toMatchObject({ code: 4, end: { status: 'needs-input' } })
    expect(ran.server.requests).toHaveLength(2)
  })

  live('an empty account ends the loop at once', async () => {
    const ran = await run([failure(402, 'payment_required', 'You have no credits left.')])
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
  })

  live('an argument it does not know ends the loop at once', async () => {
    const ran = await run([DONE], { args: ['--', '--no-such-flag'] })
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
  })
})
