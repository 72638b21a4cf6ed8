/** A loop that meets a limit: of its agent, or its own. */
import { describe, expect, test } from 'vitest'
import { makePlace, type Place } from './ralph.ts'

function scripted(place: Place, ...turns: object[][]): string {
  place.write('script.json', JSON.stringify({ turns }))
  return 'scripted:script.json'
}

describe.concurrent('the limit of an agent', () => {
  const limited = [{ 'rate-limit': { resetsInSeconds: 3_600, message: 'You hit your limit.' } }]

  test('with --on-limit stop the loop halts at once and says when it resets', async () => {
    const place = makePlace({ git: false })
    const agent = scripted(place, limited)
    const ran = await place.ralph(['run', 'Build it', '--agent', agent, '--on-limit', 'stop', '--json'])
    expect(ran).toMatchObject({ code: 3, end: { status: 'halted', reason: 'agent-unusable', iterations: 0 } })
    expect(String(ran.end?.sentence)).toMatch(/It can go on in 60 minutes, at .* UTC: You hit your limit/)
  })

  test('the config says it for every loop', async () => {
    const place = makePlace({ git: false })
    place.write('ralph.config.json', '{"on_limit": "stop"}')
    const ran = await place.ralph(['run', 'Build it', '--agent', scripted(place, limited)])
    expect([ran.code, ran.stdout]).toEqual([3, expect.stringContaining('shall not be waited for')])
  })

  test('another word is an error', async () => {
    const place = makePlace({ git: false })
    const ran = await place.ralph(['run', 'x', '--agent', scripted(place, limited), '--on-limit', 'never'])
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('--on-limit must be wait or stop') })
  })
})
