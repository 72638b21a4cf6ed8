/** Several agents in one loop, the default agent if none is named, and waiting for a rate-limited one. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makePlace, onlyLoop, type Place, query, type Running, until } from './ralph.ts'

const DONE = 'All done.\n<promise>COMPLETE</promise>'

/** A scripted agent with its own name. */
function script(place: Place, name: string, turns: object[][]): string {
  place.write(`../${name}.json`, JSON.stringify({ turns }))
  return `scripted:${join(place.root, `${name}.json`)}`
}

const edit = (path: string) => ({ edit: { path, content: `${path}\n` } })

describe.concurrent('--agent a,b', () => {
  test('the next agent takes over at once, the first is retried when its limit resets, and the record shows who did what', async () => {
    const place = makePlace()
    const limit = { 'rate-limit': { resetsInSeconds: 2 } }
    const first = script(place, 'first', [[limit], [limit], [edit('first.txt'), { text: DONE }]])
    const second = script(place, 'second', [
      [edit('a.txt'), { text: 'Half.' }],
      [{ sleep: 2.2 }, edit('b.txt'), { text: 'More.' }],
    ])
    const ran = await place.ralph([
      'run',
      'x',
      '--agent',
      `${first},${second}`,
      '--json',
      '--verify',
      'test -f first.txt',
    ])
    expect(ran).toMatchObject({ code: 0, end: { status: 'completed', proof: 'verified', iterations: 3 } })
    expect(query(place, 'SELECT n, agent, attempts FROM iteration ORDER BY n')).toEqual([
      { n: 1, agent: second, attempts: 2 },
      { n: 2, agent: second, attempts: 1 },
      { n: 3, agent: first, attempts: 1 },
    ])
    const shown = await place.ralph(['show'])
    expect(shown.stdout).toContain('agent')
    expect(shown.stdout).toContain(second)
  })

  test('says which agent takes over', async () => {
    const place = makePlace()
    const first = script(place, 'first', [[{ 'rate-limit': { resetsInSeconds: 600 } }]])
    const second = script(place, 'second', [[edit('a.txt'), { text: DONE }]])
    const ran = await place.ralph(['run', 'x', '--agent', `${first},${second}`])
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain(`agent ${first}, then ${second}`)
    expect(ran.stdout).toContain(`${second} takes over`)
  })

  test('if all of them are rate-limited, the loop waits for the first to recover', async () => {
    const place = makePlace()
    const limited = (name: string, resetsInSeconds: number) =>
      script(place, name, [
        [{ 'rate-limit': { resetsInSeconds }, attempt: name === 'first' ? 1 : 2 }, edit(`${name}.txt`), { text: DONE }],
      ])
    const both = `${limited('first', 600)},${limited('second', 1)}`
    const ran = await place.ralph(['run', 'x', '--agent', both, '--json'])
    expect(ran).toMatchObject({ code: 0, end: { iterations: 1 } })
    expect(query(place, 'SELECT agent, attempts FROM iteration')).toEqual([
      { agent: expect.stringContaining('second.json'), attempts: 3 },
    ])
  })

  test.each<[string, string[], string]>([
    ['an unknown agent', ['--agent', 'claud,codx'], 'Unknown agent: "claud". Did you mean "claude"?'],
    ['a model for several agents', ['--agent', 'A,B', '--model', 'm'], 'apply to a single agent'],
    ['arguments for several agents', ['--agent', 'A,B', '--', '--fast'], 'apply to a single agent'],
  ])('refuses %s', async (_, args, says) => {
    const place = makePlace()
    const two = [script(place, 'a', [[{ text: DONE }]]), script(place, 'b', [[{ text: DONE }]])].join(',')
    const ran = await place.ralph(['run', 'x', ...args.map((arg) => (arg === 'A,B' ? two : arg))])
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining(says) })
  })
})

describe.concurrent('--agent auto', () => {
  /** Puts a program with this name on the path, and no other agent. */
  function withAgent(place: Place, name: string): { env: Record<string, string> } {
    const bin = join(place.root, 'bin')
    mkdirSync(bin, { recursive: true })
    const program = join(bin, name)
    writeFileSync(
      program,
      `#!/bin/sh\necho '{"type":"result","is_error":false,"result":"<promise>COMPLETE</promise>","usage":{}}'\n`,
    )
    chmodSync(program, 0o755)
    mkdirSync(join(place.root, 'home', `.${name}`), { recursive: true })
    return { env: { PATH: [bin, '/usr/bin', '/bin'].join(delimiter) } }
  }

  test('picks the installed agent and says why', async () => {
    const place = makePlace()
    const ran = await place.ralph(['run', 'x', '--max-iterations', '1'], withAgent(place, 'claude'))
    expect(ran.stdout).toContain('agent claude: it is the only one installed')
  })

  test('says what to do if there is none', async () => {
    const place = makePlace()
    const ran = await place.ralph(['run', 'x'], { env: { PATH: '/usr/bin:/bin' } })
    expect(ran).toMatchObject({ code: 3, stderr: expect.stringContaining('No agent found on PATH') })
  })

  test('picks no agent that has never been used', async () => {
    const place = makePlace()
    const { env } = withAgent(place, 'claude')
    const ran = await place.ralph(['run', 'x'], { env: { ...env, HOME: join(place.root, 'tmp') } })
    expect(ran).toMatchObject({ code: 3, stderr: expect.stringContaining('not logged in') })
  })
})

describe.concurrent('a breaker that cools down', () => {
  const idle = [{ text: 'I looked around.' }]

  async function cooling(place: Place, minutes: number, last: object[]): Promise<Running> {
    place.write('ralph.config.json', JSON.stringify({ circuit_breaker: { cooldown_minutes: minutes } }))
    const agent = place.script([idle, idle, idle, last])
    const going = place.start(['run', 'x', '--agent', agent, '--json'])
    await until('the cooldown', () =>
      going.lines().some(({ next }) => (next as { why?: string } | undefined)?.why === 'cooldown'),
    )
    return going
  }

  test('allows one more attempt after the cooldown, which can complete the loop', async () => {
    const place = makePlace()
    const going = await cooling(place, 0.01, [edit('a.txt'), { text: DONE }])
    expect(await going.ended).toMatchObject({ code: 0, end: { status: 'completed', iterations: 4 } })
    const { stdout } = await place.ralph(['show'])
    expect(stdout).toContain('The breaker opened (no-progress): 3 iterations in a row changed nothing.')
    expect(stdout).toMatch(/The cooldown ended after 0:0\d\. Next: iteration 4\./)
    expect((await place.ralph(['show', onlyLoop(place), '4'])).stdout).toContain(
      'Nothing in the worktree has changed recently.',
    )
  })

  test('halts the loop if that attempt did not help', async () => {
    const place = makePlace()
    const going = await cooling(place, 0.01, idle)
    const sentence = expect.stringContaining('A retry after a cooldown did not help.')
    expect(await going.ended).toMatchObject({ code: 1, end: { reason: 'no-progress', iterations: 4, sentence } })
  })

  test('is shown as open, and a resume from elsewhere closes it', async () => {
    const place = makePlace()
    const going = await cooling(place, 60, [edit('a.txt'), { text: DONE }])
    const { stdout } = await place.ralph(['status', onlyLoop(place)])
    expect(stdout).toContain('breaker open')
    expect(stdout).toMatch(/changed nothing\. The breaker is open; one more try at \d\d:\d\d:\d\d/)
    expect((await place.ralph(['status'])).stdout).toContain('waiting, breaker open')
    const known = await place.ralph(['status', onlyLoop(place), '--json'])
    expect(known.end).toMatchObject({ status: 'waiting', breaker: 'open', waits_for: 'cooldown' })
    expect((await place.ralph(['resume'])).stdout).toContain('tries again at once.')
    expect(await going.ended).toMatchObject({ code: 0, end: { status: 'completed', iterations: 4 } })
    expect((await place.ralph(['show'])).stdout).toContain('You reset the breaker.')
  })
})

describe.concurrent('a wait for a limit', () => {
  /** A loop whose first attempt hits a rate limit of an hour, once it is waiting. */
  async function waiting(place: Place): Promise<Running> {
    const limit = { 'rate-limit': { resetsInSeconds: 3_600 }, attempt: 1 }
    const going = place.start(['run', 'x', '--agent', place.script([[limit, edit('a.txt'), { text: DONE }]]), '--json'])
    await until('the wait', () =>
      going.lines().some(({ next }) => (next as { kind?: string } | undefined)?.kind === 'wait'),
    )
    return going
  }

  test('a resume from elsewhere makes a waiting loop retry at once', async () => {
    const place = makePlace()
    const going = await waiting(place)
    expect((await place.ralph(['status', onlyLoop(place)])).stdout).toMatch(
      /waiting for the agent until \d\d:\d\d:\d\d/,
    )
    expect((await place.ralph(['resume'])).stdout).toContain('tries again at once.')
    expect(await going.ended).toMatchObject({ code: 0, end: { status: 'completed', iterations: 1 } })
  })

  test('a loop whose ralph is killed while it waits continues with the same iteration', async () => {
    const place = makePlace()
    const going = await waiting(place)
    going.child.kill('SIGKILL')
    await going.ended
    expect((await place.ralph(['status'])).stdout).toContain('waiting, no process')
    expect(await place.ralph(['resume', '--json'])).toMatchObject({
      code: 0,
      end: { status: 'completed', iterations: 1 },
    })
  })
})
