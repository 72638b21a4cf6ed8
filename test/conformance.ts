/**
 * What every real client must do when `ralph run` drives it against a scripted model. One file per client calls this.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { type Client, installClient, pathWith } from './clients.ts'
import { DONE, failure, type ModelServer, type Replies, type Reply, startModelServer } from './model-server.ts'
import { carriers, makePlace, type Place, query, type Ran, until } from './ralph.ts'

type Going = { args?: string[]; env?: Record<string, string | undefined>; place?: Place }

export type Live = {
  /** A test that is skipped, with its name, if the client is not available. */
  live(title: string, body: (context: TestContext) => Promise<void>): void
  /** One complete `ralph run`; no process of the client is alive afterwards. */
  run(replies: Reply[], going?: Going): Promise<Ran & { place: Place; server: ModelServer }>
  bash(command: string): Reply
}

/** Tools for a file of live tests with cases of its own. */
export function openLive(client: Client): Live & {
  start(replies: Replies, place: Place): Promise<Record<string, string | undefined>>
  /** What the model has been asked since then. */
  requests(): unknown[]
} {
  let bin: string | undefined
  let server: ModelServer | undefined

  beforeAll(() => {
    const installed = installClient(client)
    if ('bin' in installed) bin = installed.bin
    else console.log(`skipped: ${client.name}: ${installed.missing}`)
  }, 320_000)

  afterEach(async () => {
    await server?.close()
    server = undefined
  })

  async function start(replies: Replies, place: Place): Promise<Record<string, string | undefined>> {
    server = await startModelServer(replies, client)
    return { PATH: pathWith(bin ?? ''), ...client.prepare(join(place.root, 'home'), server.url) }
  }

  return {
    start,
    requests: () => server?.requests ?? [],
    bash: (command) => ({ tools: [client.bash(command)] }),
    live: (title, body) =>
      test(title, async (context) => {
        context.skip(bin === undefined, `${client.name} cannot be installed here`)
        await body(context)
      }),
    async run(replies, { args = [], env = {}, place = makePlace() } = {}) {
      const clean = await start(replies, place)
      const ran = await place.ralph(
        ['run', 'Write the file.', '--agent', client.agent ?? client.name, '--json', ...args],
        {
          env: { ...clean, ...env },
        },
      )
      expect(carriers(`RALPH_LOOP_ID=${ran.lines[0]?.loop_id}`)).toEqual([])
      if (!server) throw new Error('The server is closed.')
      return { ...ran, place, server }
    },
  }
}

/** Cases that a client cannot be brought into, or only after minutes of its own retries, with the reason. */
export type Apart = Partial<
  Record<'tokens' | 'session' | 'limited' | 'overloaded' | 'context' | 'denied' | 'auth', string>
>

export function conformance(client: Client, apart: Apart = {}): void {
  const { live, run, start, bash } = openLive(client)
  const unless = (kind: keyof Apart, title: string, body: () => Promise<void>) =>
    apart[kind] === undefined ? live(title, body) : test.skip(`${title} (${apart[kind]})`)

  describe(client.agent ?? client.name, () => {
    live('completes a loop of two iterations: a lie is refused, the work is done, and tokens are counted', async () => {
      const ran = await run([DONE, bash('echo all > b.txt'), DONE], { args: ['--verify', 'test -f b.txt'] })
      expect(ran).toMatchObject({
        code: 0,
        end: { status: 'completed', proof: 'verified', iterations: 2, false_claims: 1 },
      })
      expect(ran.place.read('b.txt')).toBe('all\n')
      if (apart.tokens === undefined) expect(ran.end.tokens).toBeGreaterThanOrEqual(3 * 120)
      expect(query(ran.place, 'SELECT changed FROM iteration ORDER BY n')).toEqual([{ changed: 0 }, { changed: 1 }])
      expect(JSON.stringify(ran.server.requests[1])).toContain('The check `test -f b.txt` failed')
    })

    live('does not take a promise for a claim if only a tool or a sentence about it contains it', async () => {
      const ran = await run(
        [
          bash('echo "<promise>COMPLETE</promise>"; echo x > x.txt'),
          { text: 'I will not output <promise>COMPLETE</promise> yet.' },
        ],
        { args: ['--max-iterations', '1'] },
      )
      expect(ran).toMatchObject({ code: 1, end: { reason: 'max-iterations', proof: null } })
    })

    live('treats an empty answer as a turn without changes, or as a failed one', async () => {
      const ran = await run([{ text: '' }], { args: ['--max-iterations', '1'] })
      expect(ran.code).toBe(1)
      expect(['max-iterations', 'agent-failed']).toContain(ran.end.reason)
    })

    unless('session', 'continues in one session, and counts nothing twice', async () => {
      const ran = await run([bash('echo 1 > a.txt'), { text: 'First.' }, bash('echo 2 > a.txt'), { text: 'Second.' }], {
        args: ['--context', 'same', '--max-iterations', '2', '--model', client.model],
      })
      const sessions = query(
        ran.place,
        "SELECT json_extract(fact, '$.turn.session.id') AS id FROM event WHERE fact LIKE '%turned%'",
      )
      expect(sessions).toHaveLength(2)
      expect(sessions[0]?.id).toBe(sessions[1]?.id)
      expect(JSON.stringify(ran.server.requests[2])).toContain('First.')
      const [one, two] = query(ran.place, 'SELECT tokens, cost_usd FROM iteration ORDER BY n')
      expect([one?.tokens, two?.tokens]).toEqual([240, 240])
      if (one?.cost_usd !== null) expect(two?.cost_usd).toBeCloseTo(Number(one?.cost_usd), 6)
    })

    unless('auth', 'ends at once with its own message if its key is invalid', async () => {
      const ran = await run([failure(401, 'authentication_error', 'invalid x-api-key')])
      expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable', iterations: 0 } })
    })

    unless('limited', 'is waited for when it is rate-limited, and costs no iteration', async () => {
      const ran = await run([failure(429, 'rate_limit_error', 'slow down')], { args: ['--timeout', '0.9'] })
      expect(ran).toMatchObject({ code: 1, end: { reason: 'timeout', iterations: 0 } })
    })

    unless('overloaded', 'is waited for when its model is overloaded, and costs no iteration', async () => {
      const ran = await run([failure(503, 'overloaded_error', 'Overloaded')], { args: ['--timeout', '0.9'] })
      expect(ran).toMatchObject({ code: 1, end: { reason: 'timeout', iterations: 0 } })
    })

    unless('context', 'starts a new session when its context is full', async () => {
      const ran = await run([client.contextFull, bash('echo x > x.txt'), DONE])
      expect(ran).toMatchObject({ code: 0, end: { iterations: 2 } })
    })

    unless('denied', 'asks the user when permissions are denied twice', async () => {
      const denied = [bash('touch x.txt'), { text: 'I was not allowed to.' }]
      const ran = await run([...denied, ...denied], { args: ['--permissions', 'ask'] })
      expect(ran).toMatchObject({ code: 4, end: { status: 'needs-input' } })
    })

    live('is retried when it is killed midway, and leaves nothing running', async () => {
      const place = makePlace()
      const env = await start(
        [bash('echo $$ > pid.txt; while :; do sleep 1; done'), bash('echo x > x.txt'), DONE],
        place,
      )
      const going = place.start(['run', 'Work.', '--agent', client.agent ?? client.name, '--json'], { env })
      const id = await until('the loop', () => going.lines()[0]?.loop_id, 30_000)
      const alive = () => carriers(`RALPH_LOOP_ID=${id}`)
      await until('the tool', () => existsSync(join(place.dir, 'pid.txt')), 90_000)
      expect(alive().length).toBeGreaterThan(1)
      going.child.kill('SIGKILL')
      await going.ended.catch(() => {}) // its last line may be cut off
      await until('the end of all processes', () => alive().length === 0, 3_000)
      const resumed = await place.ralph(['resume', '--json'], { env })
      expect(resumed).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1 } })
      expect(query(place, 'SELECT n, attempts FROM iteration')).toEqual([{ n: 1, attempts: 2 }])
      expect(alive()).toEqual([])
    })
  })
}
