/** `ralph serve` as a user starts it: how it stops, who finds it, and what an agent inside a loop cannot do through it. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { specOf } from '../src/engine/stories.test-support.ts'
import type { ServerProgram } from '../src/fronts/cli/serve.ts'
import { serve } from '../src/fronts/server/serve.ts'
import { bentLoop } from '../src/operations/bent.test-support.ts'
import { openContext } from '../src/operations/context.ts'
import type { Context } from '../src/operations/operation.ts'
import { makePlace, type Place, type Running, until } from './ralph.ts'

type Server = { url: string; token: string; pid: number }

async function startServer(place: Place, ...more: string[]): Promise<Server & { running: Running }> {
  const running = place.start(['serve', '--port', '0', '--json', ...more])
  const line = await until('the address', () => running.lines().find(({ type }) => type === 'serve-start'))
  return { ...(line as unknown as Server), running }
}

const ask = ({ url, token }: Server, path: string, init: RequestInit = {}) =>
  fetch(new URL(path, url), {
    ...init,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })

test('the server takes what the command line passes', () => {
  const program: ServerProgram = { serve }
  expect(program.serve).toBeTypeOf('function')
})

test('prints its address, answers, and stops cleanly on SIGTERM', async () => {
  const place = makePlace({ git: false })
  const server = await startServer(place)
  expect(await (await fetch(new URL('/healthz', server.url))).json()).toEqual({ ok: true, version: expect.any(String) })
  const second = await place.ralph(['serve', '--port', '0'])
  expect([second.code, second.stderr]).toEqual([
    1,
    `ralph: ralph serve is already running: ${server.url} (process ${server.pid}). Use it, or stop it with: kill ${server.pid}\n`,
  ])
  process.kill(server.running.pid, 'SIGTERM')
  expect(await server.running.ended).toMatchObject({ code: 0, stderr: '' })
  expect(existsSync(join(place.home, 'server.json'))).toBe(false)
})

test('Ctrl-C ends it with 130, and a killed one does not block the next', async () => {
  const place = makePlace({ git: false })
  const killed = await startServer(place)
  process.kill(killed.running.pid, 'SIGKILL')
  await killed.running.ended
  expect(existsSync(join(place.home, 'server.json'))).toBe(true)
  const next = await startServer(place)
  expect(next.token).toBe(killed.token)
  process.kill(next.running.pid, 'SIGINT')
  expect((await next.running.ended).code).toBe(130)
})

test('the database is not rebuilt while a server is running', async () => {
  const place = makePlace({ git: false })
  const { url, pid, running } = await startServer(place)
  const refused = await place.ralph(['doctor', '--rebuild'])
  expect([refused.code, refused.stderr]).toEqual([
    1,
    `ralph: ralph serve is using the database (${url}). Stop it, then rebuild: kill ${pid}\n`,
  ])
  process.kill(running.pid, 'SIGTERM')
  await running.ended
  expect(await place.ralph(['doctor', '--rebuild'])).toMatchObject({ stdout: expect.stringContaining('0 loops') })
})

test('the user sees the address with the token, and how to stop', async () => {
  const place = makePlace({ git: false })
  const running = place.start(['serve', '--port', '0'])
  await until('what it prints', () => running.stdout().includes('Press Ctrl-C'))
  const { url, token } = JSON.parse(readFileSync(join(place.home, 'server.json'), 'utf8'))
  expect(running.stdout()).toContain(`${url}#t=${token}\n`)
  process.kill(running.pid, 'SIGTERM')
  await running.ended
})

test.each([
  [['--host', '0.0.0.0'], '0.0.0.0 can be reached from other machines.'],
  [['--port', '70000'], '--port must be at most 65535'],
  [['--concurrency', '0'], '--concurrency must be a whole number of at least 1'],
])('ralph serve %j is refused', async (args, sentence) => {
  const { code, stderr } = await makePlace({ git: false }).ralph(['serve', ...args])
  expect(code).toBe(2)
  expect(stderr).toContain(sentence)
})

describe('through the server', () => {
  async function inHome<Result>(
    { home, dir, env }: Place,
    work: (context: Context) => Promise<Result>,
  ): Promise<Result> {
    const context = openContext({ root: resolve('.'), home, env, cwd: () => dir, note: () => {} })
    try {
      return await work(context)
    } finally {
      await context.close()
    }
  }

  /** A server, and a loop that waits until something is allowed. */
  async function openBent(): Promise<{ place: Place; server: Server }> {
    const place = makePlace({ git: false })
    const work = { ...specOf().work, dir: place.dir, agent: 'command:true' }
    await inHome(place, (context) => bentLoop(context, 'bent-1', { work }))
    return { place, server: await startServer(place) }
  }

  /** What an agent types that has read server.json. */
  const allow = (then = '') =>
    `const { url, token } = JSON.parse(require('fs').readFileSync(process.env.HOME_OF_RALPH + '/server.json'))
     const asked = require('http').request(url + 'api/loops/bent-1/allow', { method: 'POST', headers: {
       authorization: 'Bearer ' + token, 'content-type': 'application/json' } }, (answer) =>
       answer.on('data', (text) => require('fs').writeFileSync('said.json', text)))
     asked.on('error', () => {}).end('{}', () => { ${then} })`

  const WAYS: [how: string, before: string, then?: string][] = [
    ['plainly', ''],
    ['without RALPH_LOOP_ID', 'env -u RALPH_LOOP_ID '],
    ['in its own session', 'env -u RALPH_LOOP_ID setsid -w '],
    ['and hangs up at once', '', 'asked.destroy()'],
  ]

  test.each(WAYS)('an agent inside a loop can allow nothing: %s', async (_, before, then) => {
    const { place } = await openBent()
    place.write('allow.cjs', allow(then))
    const agent = place.agent(`export HOME_OF_RALPH='${place.home}'; ${before}'${process.execPath}' allow.cjs`)
    await place.ralph(['run', 'Do it.', '--agent', agent, '--max-iterations', '1'])
    if (!then) {
      expect(JSON.parse(place.read('said.json')).error).toMatchObject({
        code: 'below-turn',
        message: expect.stringMatching(/^The agent inside loop \S+ cannot do this: a person must/),
      })
    }
    expect(await inHome(place, (context) => context.store().nextOrder('bent-1'))).toBeUndefined()
  })

  test('a person can allow it', async () => {
    const { server } = await openBent()
    const answer = await ask(server, '/api/loops/bent-1/allow', { method: 'POST', body: '{}' })
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ loop: 'bent-1' })])
  })
})
