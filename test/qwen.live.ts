/** The real Qwen Code, driven by `ralph run` against a scripted model on loopback. */
import { describe, expect } from 'vitest'
import { qwen } from './clients/qwen.ts'
import { conformance, openLive } from './conformance.ts'
import { DONE, failure } from './model-server.ts'

conformance(qwen)

const { live, run, bash } = openLive(qwen)

describe("Qwen's own behavior", () => {
  live('a quota with a reset time is waited for, and costs no iteration', async () => {
    const reset = Math.ceil(Date.now() / 1_000) * 1_000 + 15_000
    const named = new Date(reset).toISOString().slice(0, 19).replace('T', ' ')
    const quota = failure(429, 'quota_exceeded', `Quota exceeded. It will reset at ${named} UTC.`)
    const ran = await run([quota, bash('echo x > x.txt'), DONE])
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1 } })
    const waits = ran.lines.filter(({ next }) => (next as { kind?: string } | undefined)?.kind === 'wait')
    expect(waits[0]?.next).toMatchObject({ why: 'limit', until: reset })
  })

  live('a model that does not exist ends the loop at once', async () => {
    const ran = await run([failure(404, 'model_not_found', 'The model `nope` does not exist.')], {
      args: ['--model', 'nope'],
    })
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
  })
})
