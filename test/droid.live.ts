/** The real Droid, driven by `ralph run` against a scripted model on loopback. */
import { describe, expect } from 'vitest'
import { droid } from './clients/droid.ts'
import { conformance, openLive } from './conformance.ts'
import { DONE, failure } from './model-server.ts'
import { query } from './ralph.ts'

conformance(droid, {
  session: 'its session gets a new id with every turn; see below',
  limited: 'it tries again for a minute and a half; recorded',
  overloaded: 'it tries again for minutes',
  denied: 'a denial ends its turn at once; below',
})

const { live, run, bash } = openLive(droid)

describe("Droid's own behavior", () => {
  live('continues the conversation, each time in a copy, and counts no tokens twice', async () => {
    const ran = await run([{ text: 'First.' }, { text: 'Second.' }, { text: 'Third.' }], {
      args: ['--context', 'same', '--max-iterations', '3', '--model', 'custom:scripted'],
    })
    const sessions = query(
      ran.place,
      "SELECT json_extract(fact, '$.turn.session.id') AS id FROM event WHERE fact LIKE '%turned%'",
    )
    expect(new Set(sessions.map(({ id }) => id)).size).toBe(3)
    for (const words of ['First.', 'Second.']) expect(JSON.stringify(ran.server.requests[2])).toContain(words)
    expect(query(ran.place, 'SELECT tokens FROM iteration ORDER BY n')).toEqual(Array(3).fill({ tokens: 120 }))
  })

  live('asks the user when a permission is denied twice', async () => {
    const ran = await run([bash('touch x.txt')], { args: ['--permissions', 'ask'] })
    expect(ran).toMatchObject({ code: 4, end: { status: 'needs-input' } })
    expect(JSON.stringify(ran.end)).toContain('Execute: touch x.txt')
  })

  live('a model that does not exist ends the loop at once', async () => {
    const ran = await run([DONE], { args: ['--model', 'nope'] })
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
    expect(ran.end.sentence).toContain('Invalid model: nope')
  })

  live('an account without credit ends the loop at once', async () => {
    const words = 'Your credit balance is too low to access the Anthropic API.'
    expect(await run([failure(400, 'invalid_request_error', words)])).toMatchObject({
      code: 3,
      end: { reason: 'agent-unusable' },
    })
  })
})
