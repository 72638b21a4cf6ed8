/**
 * The real Kilo, driven by `ralph run` against a scripted model on loopback. Its adapter is OpenCode's, so two cases
 * are enough.
 */
import { describe, expect } from 'vitest'
import { kilo } from './clients/opencode.ts'
import { openLive } from './conformance.ts'
import { DONE } from './model-server.ts'

const { live, run, bash } = openLive(kilo)

describe('kilo', () => {
  live('completes a loop of two iterations: a lie is refused, the work is done, and tokens are counted', async () => {
    const ran = await run([DONE, bash('echo all > b.txt'), DONE], { args: ['--verify', 'test -f b.txt'] })
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', proof: 'verified', iterations: 2 } })
    expect(ran.end.tokens).toBe(3 * 120)
  })

  live('asks the user when a denial has ended two turns, although it calls that an error', async () => {
    const ran = await run([bash('touch x.txt')], { args: ['--permissions', 'ask'] })
    expect(ran).toMatchObject({ code: 4, end: { status: 'needs-input' } })
  })
})
