/** Claude Code itself, driven by `ralph run` against a scripted model on loopback. */
import { existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { claudeEnvironment, installClient } from './clients.ts'
import { type ModelServer, type Reply, startModelServer } from './model-server.ts'
import { carriers, makePlace, type Place, query, type Ran, until } from './ralph.ts'

let program: string | undefined
let server: ModelServer | undefined

beforeAll(() => {
  const client = installClient('claude')
  if ('program' in client) program = client.program
  else console.log(`skipped: claude: ${client.missing}`)
})

afterEach(async () => {
  await server?.close()
  server = undefined
})

const live = (title: string, body: () => Promise<void>) =>
  test(title, async ({ skip }) => {
    skip(program === undefined, 'claude cannot be installed here')
    await body()
  })

function clean(place: Place, url: string): Record<string, string> {
  const path = [dirname(program ?? ''), place.env.PATH].join(delimiter)
  return { PATH: path, ...claudeEnvironment(join(place.root, 'home'), url) }
}

type Going = { args?: string[]; env?: Record<string, string | undefined>; place?: Place }

async function run(
  replies: Reply[],
  { args = [], env = {}, place = makePlace() }: Going = {},
): Promise<Ran & { place: Place }> {
  server = await startModelServer(replies)
  const ran = await place.ralph(['run', 'Write the file.', '--agent', 'claude', '--json', ...args], {
    env: { ...clean(place, server.url), ...env },
  })
  const id = String(ran.lines[0]?.loop_id)
  expect(carriers(`RALPH_LOOP_ID=${id}`)).toEqual([])
  return { ...ran, place }
}

const bash = (command: string): Reply => ({ tools: [{ name: 'Bash', input: { command, description: 'a step' } }] })
const DONE: Reply = { text: 'All done.\n\n<promise>COMPLETE</promise>' }

describe('a loop', () => {
  live('refuses the lie, feeds the failure back, and ends when the check passes', async () => {
    const ran = await run(
      [DONE, bash('echo half > a.txt'), { text: 'Half of it is there.' }, bash('echo all > b.txt'), DONE],
      {
        args: ['--verify', 'test -f b.txt'],
      },
    )
    expect(ran).toMatchObject({
      code: 0,
      end: { status: 'completed', proof: 'verified', iterations: 3, false_claims: 1 },
    })
    expect(ran.end.tokens).toBe(5 * 120)
    expect(ran.end.cost_usd).toBeGreaterThan(0)
    const rows = query(ran.place, 'SELECT n, changed, tokens, cost_usd FROM iteration ORDER BY n')
    expect(rows).toMatchObject([
      { n: 1, changed: 0, tokens: 120 },
      { n: 2, changed: 1 },
      { n: 3, changed: 1 },
    ])
    const diffs = query(ran.place, 'SELECT files, added, removed FROM iteration ORDER BY n')
    expect(diffs).toEqual([
      { files: 0, added: 0, removed: 0 },
      { files: 1, added: 1, removed: 0 },
      { files: 1, added: 1, removed: 0 },
    ])
    const id = String(ran.lines[0]?.loop_id)
    const shown = await ran.place.ralph(['show', id, '3'])
    expect(shown.stdout).toContain('+++ b/b.txt')
    expect(await ran.place.ralph(['rollback', id, '2'])).toMatchObject({ code: 0 })
    expect([existsSync(join(ran.place.dir, 'a.txt')), existsSync(join(ran.place.dir, 'b.txt'))]).toEqual([true, false])
    const [turn] = query(ran.place, "SELECT fact FROM event WHERE fact LIKE '%turned%' ORDER BY n")
    expect(JSON.parse(String(turn?.fact)).turn.session.id).toMatch(/^[0-9a-f-]{36}$/)
    expect(JSON.stringify(server?.requests[1])).toContain('The check `test -f b.txt` failed')
  })

  live('makes no claim of a promise that only a tool or a sentence about it shows', async () => {
    const ran = await run(
      [
        bash('echo "<promise>COMPLETE</promise>"; echo x > x.txt'),
        { text: 'I will not output <promise>COMPLETE</promise> yet.' },
      ],
      { args: ['--max-iterations', '1'] },
    )
    expect(ran).toMatchObject({ code: 1, end: { reason: 'max-iterations', proof: null } })
  })

  live('goes on in one session, whose cost is not counted twice', async () => {
    const ran = await run([bash('echo 1 > a.txt'), { text: 'First.' }, bash('echo 2 > a.txt'), { text: 'Second.' }], {
      args: ['--context', 'same', '--max-iterations', '2', '--model', 'claude-sonnet-5'],
    })
    const sessions = query(
      ran.place,
      "SELECT json_extract(fact, '$.turn.session.id') AS id FROM event WHERE fact LIKE '%turned%'",
    )
    expect(sessions).toHaveLength(2)
    expect(sessions[0]?.id).toBe(sessions[1]?.id)
    expect(JSON.stringify(server?.requests[2])).toContain('First.')
    expect(JSON.stringify(server?.requests[0])).toContain('claude-sonnet-5')
    const costs = query(ran.place, 'SELECT cost_usd FROM iteration ORDER BY n').map(({ cost_usd }) => Number(cost_usd))
    expect(costs[1]).toBeCloseTo(costs[0] ?? 0, 6)
  })
})

describe('trouble', () => {
  const error = (status: number, type: string, message: string): Reply => ({ status, error: { type, message } })

  live('a key that opens nothing ends the loop at once, with its words', async () => {
    const ran = await run([error(401, 'authentication_error', 'invalid x-api-key')])
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable', iterations: 0 } })
    expect(ran.end.sentence).toContain('Invalid API key')
  })

  live('a model that does not exist ends the loop at once', async () => {
    const ran = await run([error(404, 'not_found_error', 'model: nope')], { args: ['--model', 'nope'] })
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
  })

  live('an empty account ends the loop at once', async () => {
    const ran = await run([
      error(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
    ])
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
  })

  live('a limit with its reset is waited for until then, at no cost of an iteration', async () => {
    const reset = Math.floor(Date.now() / 1_000) + 4
    const headers = {
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': String(reset),
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    }
    const limited: Reply = { ...error(429, 'rate_limit_error', 'limit'), headers }
    const ran = await run([limited, bash('echo x > x.txt'), DONE], {
      env: { ANTHROPIC_API_KEY: undefined, CLAUDE_CODE_OAUTH_TOKEN: 'dummy-token' },
    })
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1 } })
    const waits = ran.lines.filter(({ next }) => (next as { kind?: string } | undefined)?.kind === 'wait')
    expect(waits[0]?.next).toMatchObject({ why: 'limit', until: reset * 1_000 })
  })

  live('a limit without a reset is waited for by the clock', async () => {
    const ran = await run([error(429, 'rate_limit_error', 'slow down')], { args: ['--timeout', '0.5'] })
    expect(ran).toMatchObject({ code: 1, end: { reason: 'timeout', iterations: 0 } })
    expect(ran.end.sentence).toContain('1 minute')
  })

  live('an overload is waited out, not counted', async () => {
    const ran = await run([error(529, 'overloaded_error', 'Overloaded')], { args: ['--timeout', '0.5'] })
    expect(ran).toMatchObject({ code: 1, end: { reason: 'timeout', iterations: 0 } })
  })

  live('a full context counts, and the next iteration begins anew', async () => {
    const full = error(400, 'invalid_request_error', 'prompt is too long: 250000 tokens > 200000 maximum')
    const ran = await run([bash('echo 1 > a.txt'), { text: 'First.' }, full, bash('echo x > x.txt'), DONE], {
      args: ['--context', 'same'],
    })
    expect(ran).toMatchObject({ code: 0, end: { iterations: 3 } })
    expect(JSON.stringify(server?.requests.at(-1))).not.toContain('First.')
    expect(JSON.stringify(server?.requests.at(-1))).toContain('Your context was full')
  })

  live('permissions denied twice are a question for a person', async () => {
    const denied = [bash('touch x.txt'), { text: 'I was not allowed to.' }]
    const ran = await run([...denied, ...denied], { args: ['--permissions', 'ask'] })
    expect(ran).toMatchObject({ code: 4, end: { status: 'needs-input', iterations: 2 } })
    expect(ran.end.sentence).toContain('touch x.txt')
  })

  live('as root without a sandbox the bypass is explained, not forced', async () => {
    const ran = await run([DONE], { env: { IS_SANDBOX: undefined } })
    if (process.getuid?.() !== 0) return expect(ran.code).toBe(0)
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable' } })
    expect(ran.end.sentence).toContain('--permissions ask')
  })

  live('an empty answer is a turn in which nothing happened', async () => {
    const ran = await run([{ text: '' }], { args: ['--max-iterations', '1'] })
    expect(ran).toMatchObject({ code: 1, end: { reason: 'max-iterations', iterations: 1 } })
  })

  live('killed in the middle it is tried again, and nothing is left running', async () => {
    const place = makePlace()
    server = await startModelServer([
      bash('echo $$ > pid.txt; while :; do sleep 1; done'),
      bash('echo x > x.txt'),
      DONE,
    ])
    const env = clean(place, server.url)
    const going = place.start(['run', 'Work.', '--agent', 'claude', '--json'], { env })
    const id = await until('the loop', () => going.lines()[0]?.loop_id, 30_000)
    const alive = () => carriers(`RALPH_LOOP_ID=${id}`)
    await until('the tool', () => existsSync(join(place.dir, 'pid.txt')), 60_000)
    expect(alive().length).toBeGreaterThan(1)
    going.child.kill('SIGKILL')
    await going.ended.catch(() => {}) // its last line may be cut
    await until('everything is gone', () => alive().length === 0, 2_000)
    const resumed = await place.ralph(['resume', '--json'], { env })
    expect(resumed).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1 } })
    expect(query(place, 'SELECT n, attempts FROM iteration')).toEqual([{ n: 1, attempts: 2 }])
  })
})
