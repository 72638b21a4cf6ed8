/** The real Codex, driven by `ralph run` against a scripted model on loopback. */
import { describe, expect } from 'vitest'
import { codex, PATCH, planLimit } from './clients/codex.ts'
import { conformance, openLive } from './conformance.ts'
import { DONE, failure } from './model-server.ts'
import { query } from './ralph.ts'

conformance(codex, {
  denied: 'a command its sandbox stops may be missing from its output, openai/codex#47433; a patch is tried below',
})

const { live, run, bash } = openLive(codex)
const waitsOf = (lines: readonly Record<string, unknown>[]) =>
  lines.flatMap(({ next }) => ((next as { kind?: string } | undefined)?.kind === 'wait' ? [next] : []))

describe("Codex's own behavior", () => {
  live('a rate limit with a duration is waited for, and the loop completes', async () => {
    const words = 'Rate limit reached on tokens per min (TPM): Limit 30000. Please try again in 3.5s.'
    const ran = await run([{ error: { type: 'rate_limit_exceeded', message: words } }, bash('echo x > x.txt'), DONE])
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1 } })
    expect(waitsOf(ran.lines)[0]).toMatchObject({ why: 'limit' })
  })

  live('its own retry gets past a 429 with Retry-After, and ralph sees no limit', async () => {
    const limited = { ...failure(429, 'rate_limit_error', 'slow down'), headers: { 'retry-after': '2' } }
    const ran = await run([limited, bash('echo x > x.txt'), DONE], {
      args: ['--', '-c', 'model_providers.scripted.stream_max_retries=2'],
    })
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1 } })
    expect(waitsOf(ran.lines)).toEqual([])
  })

  live("a plan's rate limit ends at the minute it names", async () => {
    const reset = Math.floor(Date.now() / 60_000) * 60 + 90 * 60
    const ran = await run([planLimit(reset + 20)], { args: ['--timeout', '0.1'] })
    expect(ran).toMatchObject({ code: 1, end: { reason: 'timeout', iterations: 0 } })
    const told = query(
      ran.place,
      "SELECT json_extract(fact, '$.turn.resetsAt') AS at FROM event WHERE fact LIKE '%turned%'",
    )
    expect(told).toEqual([{ at: (reset + 60) * 1_000 }])
  })

  live('the user is asked when patches are denied twice', async () => {
    const denied = [bash(PATCH), { text: 'I was not allowed to.' }]
    const ran = await run([...denied, ...denied], { args: ['--permissions', 'ask'] })
    expect(ran).toMatchObject({ code: 4, end: { status: 'needs-input' } })
  })

  live('a model that does not exist ends the loop at once', async () => {
    const ran = await run([failure(404, 'model_not_found', 'The model nope does not exist')])
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
  })

  live('an account without credit ends the loop at once', async () => {
    const ran = await run([failure(429, 'insufficient_quota', 'You exceeded your current quota.')])
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
  })

  live('a full context starts a new session, even where one session is kept', async () => {
    const ran = await run(
      [bash('echo 1 > a.txt'), { text: 'First.' }, codex.contextFull, bash('echo x > x.txt'), DONE],
      { args: ['--context', 'same'] },
    )
    expect(ran).toMatchObject({ code: 0, end: { iterations: 3 } })
    expect(JSON.stringify(ran.server.requests.at(-1))).not.toContain('First.')
    expect(JSON.stringify(ran.server.requests.at(-1))).toContain('Your context was full')
  })
})
