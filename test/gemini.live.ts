/** Gemini CLI itself, driven by `ralph run` against a scripted model on loopback. */
import { describe, expect } from 'vitest'
import { gemini } from './clients/gemini.ts'
import { conformance, DONE, openLive } from './conformance.ts'
import { query } from './ralph.ts'

conformance(gemini)

const { live, run, bash } = openLive(gemini)

describe('gemini in its own ways', () => {
  live('goes on in one session, whose tokens are not counted twice', async () => {
    const ran = await run([bash('echo 1 > a.txt'), { text: 'First.' }, bash('echo 2 > a.txt'), { text: 'Second.' }], {
      args: ['--context', 'same', '--max-iterations', '2', '--model', 'gemini-2.5-pro'],
    })
    const sessions = query(
      ran.place,
      "SELECT json_extract(fact, '$.turn.session.id') AS id FROM event WHERE fact LIKE '%turned%'",
    )
    expect(sessions).toHaveLength(2)
    expect(sessions[0]?.id).toBe(sessions[1]?.id)
    expect(JSON.stringify(ran.server.requests[2])).toContain('First.')
    expect(query(ran.place, 'SELECT tokens FROM iteration ORDER BY n')).toEqual([{ tokens: 240 }, { tokens: 240 }])
  })

  live('a model that does not exist ends the loop at once', async () => {
    const ran = await run([{ status: 404, error: { type: 'NOT_FOUND', message: 'models/nope is not found' } }], {
      args: ['--model', 'nope'],
    })
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
  })

  live('a limit with its delay is waited for until then, at no cost of an iteration', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '20s' }]
    const body = { error: { code: 429, message: 'Quota exceeded.', status: 'RESOURCE_EXHAUSTED', details } }
    const begun = Date.now()
    const ran = await run([{ status: 429, body }, bash('echo x > x.txt'), DONE])
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1 } })
    const waits = ran.lines.filter(({ next }) => (next as { kind?: string } | undefined)?.kind === 'wait')
    const { why, until } = (waits[0]?.next ?? {}) as { why?: string; until?: number }
    expect(why).toBe('limit')
    expect(Number(until) - begun).toBeGreaterThan(20_000) // counted from the beginning of the turn
    expect(Number(until) - begun).toBeLessThan(35_000)
  })
})
