/** The real Claude Code, driven by `ralph run` against a scripted model on loopback. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { claude } from './clients/claude.ts'
import { conformance, openLive } from './conformance.ts'
import { DONE, failure } from './model-server.ts'
import { query } from './ralph.ts'

conformance(claude)

const { live, run, bash } = openLive(claude)

describe("Claude Code's own behavior", () => {
  live('a lie is refused, the failure is fed back, and each iteration is recorded', async () => {
    const ran = await run(
      [DONE, bash('echo half > a.txt'), { text: 'Half of it is there.' }, bash('echo all > b.txt'), DONE],
      { args: ['--verify', 'test -f b.txt'] },
    )
    expect(ran).toMatchObject({
      code: 0,
      end: { status: 'completed', proof: 'verified', iterations: 3, false_claims: 1, tokens: 5 * 120 },
    })
    expect(ran.end.cost_usd).toBeGreaterThan(0)
    expect(query(ran.place, 'SELECT n, changed, tokens, files, added, removed FROM iteration ORDER BY n')).toEqual([
      { n: 1, changed: 0, tokens: 120, files: 0, added: 0, removed: 0 },
      { n: 2, changed: 1, tokens: 240, files: 1, added: 1, removed: 0 },
      { n: 3, changed: 1, tokens: 240, files: 1, added: 1, removed: 0 },
    ])
    const [turn] = query(ran.place, "SELECT fact FROM event WHERE fact LIKE '%turned%' ORDER BY n")
    expect(JSON.parse(String(turn?.fact)).turn.session.id).toMatch(/^[0-9a-f-]{36}$/)
    expect(JSON.stringify(ran.server.requests[1])).toContain('The check `test -f b.txt` failed')
    const id = String(ran.lines[0]?.loop_id)
    expect((await ran.place.ralph(['show', id, '3'])).stdout).toContain('+++ b/b.txt')
    expect(await ran.place.ralph(['rollback', id, '2'])).toMatchObject({ code: 0 })
    expect(['a.txt', 'b.txt'].map((name) => existsSync(join(ran.place.dir, name)))).toEqual([true, false])
  })

  live('a model that does not exist ends the loop at once', async () => {
    const ran = await run([failure(404, 'not_found_error', 'model: nope')], { args: ['--model', 'nope'] })
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
  })

  live('an account without credit ends the loop at once', async () => {
    const words = 'Your credit balance is too low to access the Anthropic API.'
    expect(await run([failure(400, 'invalid_request_error', words)])).toMatchObject({
      code: 3,
      end: { reason: 'agent-unusable' },
    })
  })

  live('a rate limit with a reset time is waited for, and costs no iteration', async () => {
    const reset = Math.floor(Date.now() / 1_000) + 4
    const headers = {
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': String(reset),
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    }
    const ran = await run([{ ...failure(429, 'rate_limit_error', 'limit'), headers }, bash('echo x > x.txt'), DONE], {
      env: { ANTHROPIC_API_KEY: undefined, CLAUDE_CODE_OAUTH_TOKEN: 'dummy-token' },
    })
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1 } })
    const waits = ran.lines.filter(({ next }) => (next as { kind?: string } | undefined)?.kind === 'wait')
    expect(waits[0]?.next).toMatchObject({ why: 'limit', until: reset * 1_000 })
  })

  live('a full context starts a new session, even where one session is kept', async () => {
    const ran = await run(
      [bash('echo 1 > a.txt'), { text: 'First.' }, claude.contextFull, bash('echo x > x.txt'), DONE],
      { args: ['--context', 'same'] },
    )
    expect(ran).toMatchObject({ code: 0, end: { iterations: 3 } })
    expect(JSON.stringify(ran.server.requests.at(-1))).not.toContain('First.')
    expect(JSON.stringify(ran.server.requests.at(-1))).toContain('Your context was full')
  })

  live('works in the sandbox, even as root, and cannot write outside', async ({ skip }) => {
    skip(spawnSync('bwrap', ['--ro-bind', '/', '/', 'true']).status !== 0, 'bubblewrap is not installed')
    const ran = await run([bash('echo in > in.txt; echo out > ../out.txt'), DONE], {
      args: ['--sandbox', '--verify', 'test -f in.txt'],
      env: { IS_SANDBOX: undefined },
    })
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', proof: 'verified' } })
    expect(existsSync(join(ran.place.root, 'out.txt'))).toBe(false)
  })

  live('as root without a sandbox, the permission bypass is explained, not forced', async () => {
    const ran = await run([DONE], { env: { IS_SANDBOX: undefined } })
    if (process.getuid?.() !== 0) return expect(ran.code).toBe(0)
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
    expect(ran.end.sentence).toContain('--permissions ask')
  })
})
