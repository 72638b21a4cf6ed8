/** Kilo itself, driven by `ralph run` against a scripted model on loopback. Its adapter is OpenCode's. */
import { describe, expect } from 'vitest'
import { kilo } from './clients/opencode.ts'
import { conformance, openLive } from './conformance.ts'

conformance(kilo, {
  denied: 'a denial ends its turn at once; see below',
})

const { live, run, bash } = openLive(kilo)

describe('kilo in its own ways', () => {
  live('asks a person when a denial has ended two turns, though it calls that an error', async () => {
    const ran = await run([bash('touch x.txt')], { args: ['--permissions', 'ask'] })
    expect(ran).toMatchObject({ code: 4, end: { status: 'needs-input' } })
  })
})
