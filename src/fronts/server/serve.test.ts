import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { eventually, temporaryFolder } from '../../host/place.test-support.ts'
import { removeLoop } from '../../host/postgres/postgres.test-support.ts'
import { listen } from './listen.ts'
import { openServer, startServer } from './serve.test-support.ts'

const homeOf = (home: string) => ({ env: { PATH: process.env.PATH, RALPH_HOME: home } })
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('a server publishes its address in its home, to its owner alone, until it stops', async () => {
  const { home, url, token, port, stop } = await openServer()
  const file = join(home, 'server.json')
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    url,
    token,
    pid: process.pid,
    started_at: expect.any(String),
  })
  expect(url).toBe(`http://127.0.0.1:${port}/`)
  expect(token).toMatch(/^ralph_[\w-]{43}$/)
  expect([mode(file), mode(join(home, 'server-token'))]).toEqual(['600', '600'])
  await stop()
  expect(existsSync(file)).toBe(false)
})

test('even a server that cannot pause its loops leaves no address behind', async () => {
  const home = join(temporaryFolder(), 'home')
  const { ask, stop, cwd } = await startServer(homeOf(home))
  const working = join(cwd, 'working')
  const agent = join(cwd, 'agent.sh')
  writeFileSync(agent, `#!/bin/sh\ntouch ${working}\nexec sleep 60\n`, { mode: 0o755 })
  const { text } = await ask('/api/loops', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'Build it', agent: `command:${agent}` }),
  })
  await eventually(() => existsSync(working))
  await removeLoop(home, JSON.parse(text).loop)
  await stop()
  expect(existsSync(join(home, 'server.json'))).toBe(false)
})

test('a second server of the same home learns where the first is', async () => {
  const { home, url } = await openServer()
  await expect(openServer(homeOf(home))).rejects.toMatchObject({
    code: 'server-running',
    message: `ralph serve is already running: ${url} (process ${process.pid}). Use it, or stop it with: kill ${process.pid}`,
  })
})

test('what a killed server left is replaced, and its token stays valid', async () => {
  const first = await openServer()
  await first.stop()
  writeFileSync(join(first.home, 'server.json'), JSON.stringify({ url: 'http://127.0.0.1:1/', token: 'old', pid: 1 }))
  const second = await openServer(homeOf(first.home))
  expect(second.token).toBe(first.token)
  expect(JSON.parse(readFileSync(join(first.home, 'server.json'), 'utf8')).url).toBe(second.url)
})

test('a new token replaces the old one', async () => {
  const first = await openServer()
  await first.stop()
  const second = await openServer({ ...homeOf(first.home), newToken: true })
  expect(second.token).not.toBe(first.token)
  const asked = await second.send('/api/loops', { headers: { authorization: `Bearer ${first.token}` } })
  expect(asked.status).toBe(401)
})

test.each([
  ['others could read', (path: string, token: string) => writeFileSync(path, `${token}\n`, { mode: 0o644 })],
  ['is none', (path: string) => writeFileSync(path, 'short\n', { mode: 0o600 })],
])('a token that %s is not used again', async (_, spoil) => {
  const first = await openServer()
  await first.stop()
  const path = join(first.home, 'server-token')
  rmSync(path)
  spoil(path, first.token)
  const second = await openServer(homeOf(first.home))
  expect(second.token).not.toBe(first.token)
  expect(mode(path)).toBe('600')
})

test('the log has one line per request, and no secret', async () => {
  const lines: string[] = []
  const { home, token, ask, send, stop } = await openServer({ log: (line) => void lines.push(line) })
  await ask('/api/loops?text=hidden-in-the-query')
  await send(`/${token}?t=${token}`)
  await ask('/api/tasks', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"title":"hidden-in-the-body"}',
  })
  await stop()
  const log = readFileSync(join(home, 'server.log'), 'utf8')
  expect(log).toBe(lines.join(''))
  expect(log).toMatch(/^\d{4}-\S+Z GET \/api\/loops 200 \d+ ms$/m)
  expect(log).toMatch(/ POST \/api\/tasks 200 /)
  expect(log).not.toContain('hidden')
  expect(log).not.toContain(token)
  expect(mode(join(home, 'server.log'))).toBe('600')
})

test('a port in use is an error if it was requested', async () => {
  const { port } = await openServer()
  await expect(openServer({ port })).rejects.toMatchObject({
    code: 'port-taken',
    message: `Port ${port} on 127.0.0.1 is in use. Choose another one with --port P.`,
  })
})

test('without a port, the next free one is taken', async () => {
  const address = { host: '127.0.0.1', allowHosts: [] }
  const [first, second] = [createServer(), createServer()]
  onTestFinished(() => {
    first.close()
    second.close()
  })
  const port = await listen(first, address)
  expect(port).toBeGreaterThanOrEqual(4444)
  expect(await listen(second, address)).toBeGreaterThan(port)
})
