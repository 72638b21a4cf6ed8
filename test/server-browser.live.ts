/** What other pages can do to the server in a real browser: nothing. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openServer, type TestServer } from '../src/fronts/server/serve.test-support.ts'
import { type Browser, installBrowser, type Launch, type Page } from './browser.ts'

const browser = await installBrowser()
const launch: Launch = 'launch' in browser ? browser.launch : () => Promise.reject(new Error(browser.missing))
const REBOUND = 'rebound.example'

describe.skipIf('missing' in browser)(`in Chromium${'missing' in browser ? ` (${browser.missing})` : ''}`, () => {
  async function openPage(): Promise<Page> {
    const running: Browser = await launch([`--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`])
    onTestFinished(() => running.close())
    return running.newPage()
  }

  /** Somebody else's page, on another port of this machine. */
  async function openStranger(): Promise<string> {
    const server = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('<p>A page</p>'))
    server.listen(0, '127.0.0.1')
    await new Promise((listening) => server.once('listening', listening))
    onTestFinished(() => void server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }

  const tasksOf = async ({ ask }: TestServer) => JSON.parse((await ask('/api/tasks')).text).tasks

  test('our own page reads and writes with the token', async () => {
    const server = await openServer()
    const page = await openPage()
    expect((await page.goto(`${server.url}#t=${server.token}`))?.status()).toBe(200)
    expect(await page.evaluate(write, { url: '/', token: server.token })).toEqual({ status: 200 })
    expect(await tasksOf(server)).toHaveLength(1)
  })

  test('a page from another origin reads nothing and writes nothing, even with the token', async () => {
    const server = await openServer()
    const page = await openPage()
    await page.goto(await openStranger())
    expect(await page.evaluate(attack, { url: server.url, token: server.token })).toEqual([])
    expect(await tasksOf(server)).toEqual([])
  })

  test('a page whose host name was rebound to this machine reads nothing and writes nothing', async () => {
    const server = await openServer()
    const page = await openPage()
    const url = `http://${REBOUND}:${new URL(server.url).port}/`
    expect((await page.goto(url))?.status()).toBe(421)
    expect(await page.evaluate(write, { url, token: server.token })).toEqual({ status: 421 })
    expect(await page.evaluate(attack, { url: server.url, token: server.token })).toEqual([])
    expect(await tasksOf(server)).toEqual([])
  })

  test('a page with another name for this machine is another origin', async () => {
    const server = await openServer()
    const page = await openPage()
    await page.goto(server.url.replace('127.0.0.1', 'localhost'))
    expect(await page.evaluate(attack, { url: server.url, token: server.token })).toEqual([])
    expect(await tasksOf(server)).toEqual([])
  })
})

type Target = { url: string; token: string }

/** Runs in the page. */
async function write({ url, token }: Target): Promise<{ status: number }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const { status } = await fetch(`${url}api/tasks`, { method: 'POST', headers, body: '{"title":"Written"}' })
  return { status }
}

/** Runs in the page: whatever it could read. */
async function attack({ url, token }: Target): Promise<string[]> {
  const { document, WebSocket, EventSource } = globalThis as unknown as {
    document: { createElement(name: string): Record<string, unknown>; body: { append(element: object): void } }
    WebSocket: new (url: string) => Record<string, unknown>
    EventSource: new (url: string) => Record<string, unknown>
  }
  const read: string[] = []
  const ask = async (what: string, path: string, init?: RequestInit) => {
    try {
      const answer = await fetch(url + path, init)
      if (answer.type !== 'opaque') read.push(`${what}: ${answer.status}`)
    } catch {
      // the browser blocks it
    }
  }
  const auth = { authorization: `Bearer ${token}` }
  const body = '{"title":"Planted"}'
  await ask('page', '')
  await ask('health', 'healthz')
  await ask('description', 'openapi.json')
  await ask('list', 'api/loops', { headers: auth })
  await ask('live', 'api/live', { headers: auth })
  await ask('write', 'api/tasks', { method: 'POST', headers: { ...auth, 'content-type': 'application/json' }, body })
  await ask('simple write', 'api/tasks', { method: 'POST', headers: { 'content-type': 'text/plain' }, body })
  await ask('blind write', 'api/tasks', { method: 'POST', mode: 'no-cors', body })
  await ask('blind mcp', 'mcp', { method: 'POST', mode: 'no-cors', body })
  await ask('blind delete', 'api/tasks/x', { method: 'DELETE', mode: 'no-cors' })
  const loaded = (what: string, element: Record<string, unknown>, settled: string[] = ['onload', 'onerror']) =>
    new Promise<void>((done) => {
      for (const name of settled)
        element[name] = () => {
          if (name === 'onload' || name === 'onopen' || name === 'onmessage') read.push(what)
          done()
        }
      setTimeout(done, 1_000) // what a browser does not even start
      if ('src' in element) document.body.append(element)
    })
  for (const [name, path] of [
    ['script', 'openapi.json'],
    ['img', 'healthz'],
  ] as const)
    try {
      await loaded(name, Object.assign(document.createElement(name), { src: url + path }))
    } catch {
      // its policy forbids even trying
    }
  await loaded('socket', new WebSocket(`${url.replace('http', 'ws')}api/live`), ['onopen', 'onerror'])
  await loaded('events', new EventSource(`${url}api/live?token=${token}`), ['onopen', 'onmessage', 'onerror'])
  return read
}
