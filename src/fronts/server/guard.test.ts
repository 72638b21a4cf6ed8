import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Asked, openServer, startServer, type TestServer } from './serve.test-support.ts'

type Case = [
  attack: string,
  status: number,
  code: string | undefined,
  asked: (server: Place) => Asked & { path?: string },
]
type Place = { port: number; token: string; auth: Record<string, string> }

const json = { 'content-type': 'application/json' }
const task = '{"title":"Planted"}'

const host = (name: string): Case => [
  `the host ${name}`,
  421,
  'host-refused',
  ({ auth }) => ({ headers: { ...auth, host: name } }),
]
const hostOf = (what: string, name: (port: number) => string): Case => [
  what,
  421,
  'host-refused',
  ({ auth, port }) => ({ headers: { ...auth, host: name(port) } }),
]
const origin = (what: string, name: (port: number) => string): Case => [
  `the origin ${what}`,
  403,
  'origin-refused',
  ({ auth, port }) => ({ headers: { ...auth, origin: name(port) } }),
]
const write = (what: string, status: number, code: string, headers: Record<string, string>, body = task): Case => [
  what,
  status,
  code,
  ({ auth }) => ({ method: 'POST', path: '/api/tasks', headers: { ...auth, ...headers }, body }),
]

const ATTACKS: Case[] = [
  host('evil.com'),
  host('localhost.evil.com'),
  host('127.0.0.1.nip.io'),
  hostOf('a name of another host with our port', (port) => `evil.com:${port}`),
  hostOf('a name that starts like ours', (port) => `localhost.evil.com:${port}`),
  hostOf('a name that resolves to 127.0.0.1', (port) => `127.0.0.1.nip.io:${port}`),
  hostOf('another address of this machine', (port) => `127.0.0.2:${port}`),
  hostOf('our name with another port', (port) => `localhost:${port + 1}`),
  hostOf('our name without a port', () => 'localhost'),
  hostOf('our name with a trailing dot', (port) => `localhost.:${port}`),
  origin('null', () => 'null'),
  origin('of a stranger', () => 'https://evil.com'),
  origin('on another port', (port) => `http://127.0.0.1:${port + 1}`),
  origin('by another name of ours', (port) => `http://localhost:${port}`),
  origin('with another scheme', (port) => `https://127.0.0.1:${port}`),
  origin('that starts like ours', (port) => `http://127.0.0.1:${port}.evil.com`),
  ['no token', 401, 'token-missing', () => ({})],
  ['a wrong token', 401, 'token-wrong', () => ({ headers: { authorization: 'Bearer wrong' } })],
  [
    'a part of the token',
    401,
    'token-wrong',
    ({ token }) => ({ headers: { authorization: `Bearer ${token.slice(0, -1)}` } }),
  ],
  ['more than the token', 401, 'token-wrong', ({ token }) => ({ headers: { authorization: `Bearer ${token}A` } })],
  [
    'the token as a password',
    401,
    'token-missing',
    ({ token }) => ({ headers: { authorization: `Basic ${btoa(`:${token}`)}` } }),
  ],
  ['the token without a scheme', 401, 'token-missing', ({ token }) => ({ headers: { authorization: token } })],
  [
    'the token in the query',
    401,
    'token-missing',
    ({ token }) => ({ path: `/api/loops?token=${token}&t=${token}&access_token=${token}` }),
  ],
  ['the token in a cookie', 401, 'token-missing', ({ token }) => ({ headers: { cookie: `token=${token}` } })],
  ['an unknown path without a token', 401, 'token-missing', () => ({ path: '/api/nothing' })],
  ['MCP without a token', 401, 'token-missing', () => ({ path: '/mcp', method: 'POST', headers: json, body: '{}' })],
  ...['cross-site', 'same-site', 'nonsense'].map(
    (site): Case => [
      `a page that is ${site}`,
      403,
      'origin-refused',
      ({ auth }) => ({ headers: { ...auth, 'sec-fetch-site': site } }),
    ],
  ),
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/jsonp',
    'text/json',
    '',
  ].map((type) => write(`a body of type "${type}"`, 415, 'not-json', { 'content-type': type })),
  write('a body without a type', 415, 'not-json', {}),
  write('a body that is not JSON', 400, 'input-invalid', json, '{"title"'),
  write('a body that is a list', 400, 'input-invalid', json, '[]'),
  write('a body of 2 MiB', 413, 'too-large', json, JSON.stringify({ title: 'x'.repeat(2_097_152) })),
  write(
    'a body of 2 MiB in chunks',
    413,
    'too-large',
    { ...json, 'transfer-encoding': 'chunked' },
    ' '.repeat(2_097_152),
  ),
  write('a form that pretends to be JSON', 415, 'not-json', { 'content-type': 'text/plain; application/json' }),
  ...['TRACE', 'OPTIONS', 'PUT', 'PROPFIND', 'DELETE'].map(
    (method): Case => [
      `the method ${method}`,
      405,
      'method-refused',
      ({ auth }) => ({ method, headers: { ...auth, ...json } }),
    ],
  ),
  ['an unknown path', 404, 'not-found', ({ auth }) => ({ path: '/api/nothing', headers: auth })],
  [
    'a name before an at sign',
    400,
    'request-invalid',
    ({ auth, port }) => ({ headers: { ...auth, host: `evil.com@127.0.0.1:${port}` } }),
  ],
  [
    'a path with dots',
    404,
    'not-found',
    ({ auth }) => ({ path: '/api/loops/..%2f..%2f..%2fetc/passwd', headers: auth }),
  ],
  ...['POST', 'DELETE'].map(
    (method): Case => [
      `${method} on the live stream`,
      405,
      'method-refused',
      ({ auth }) => ({ path: '/api/live', method, headers: { ...auth, ...json } }),
    ],
  ),
  ['a write to the page', 405, 'method-refused', () => ({ path: '/', method: 'POST', headers: json, body: '{}' })],
]

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

test.each(ATTACKS)('%s is refused: %i', async (_, status, code, asked) => {
  const place = { ...server, auth: { authorization: `Bearer ${server.token}` } }
  const { path = '/api/loops', ...rest } = asked(place)
  const answer = await server.send(path, rest)
  expect(answer.status).toBe(status)
  expect(JSON.parse(answer.text)).toEqual({
    error: expect.objectContaining({ code, message: expect.any(String), help: expect.any(String) }),
  })
  expect(answer.text).not.toContain(server.token)
  expectNoDoors(answer.headers)
  expect(JSON.parse((await server.ask('/api/tasks')).text).tasks).toEqual([])
})

function expectNoDoors(headers: Record<string, unknown>): void {
  expect(Object.keys(headers).filter((name) => /^access-control-|^set-cookie$/.test(name))).toEqual([])
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; .*frame-ancestors 'none'.*require-trusted-types-for 'script'$/,
  )
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect(headers['referrer-policy']).toBe('no-referrer')
  expect(headers['cross-origin-resource-policy']).toBe('same-origin')
  expect(headers['cross-origin-opener-policy']).toBe('same-origin')
}

describe('legitimate requests are accepted', () => {
  test.each<[what: string, headers: (port: number) => Record<string, string>]>([
    ['a program', () => ({})],
    ['our own page', (port) => ({ origin: `http://127.0.0.1:${port}`, 'sec-fetch-site': 'same-origin' })],
    ['by the name localhost', (port) => ({ host: `localhost:${port}`, origin: `http://localhost:${port}` })],
    ['by the name LOCALHOST', (port) => ({ host: `LOCALHOST:${port}` })],
    ['by [::1]', (port) => ({ host: `[::1]:${port}` })],
    ['an address that the user typed', () => ({ 'sec-fetch-site': 'none' })],
  ])('%s', async (_, headers) => {
    expect((await server.ask('/api/loops', { headers: headers(server.port) })).status).toBe(200)
  })

  test.each(['/', '/healthz', '/openapi.json', '/some/view'])('%s needs no token, and holds no data', async (path) => {
    const answer = await server.send(path)
    expect(answer.status).toBe(200)
    expect(answer.text).not.toContain(server.token)
    expect(answer.text).not.toContain(server.home)
    expectNoDoors(answer.headers)
    expect((await server.send(path, { headers: { host: 'evil.com' } })).status).toBe(421)
  })

  test('any loopback address that it listens on', async () => {
    const other = await openServer({ host: '127.0.0.2' })
    expect(other.url).toBe(`http://127.0.0.2:${other.port}/`)
    expect((await fetch(new URL('/healthz', other.url))).status).toBe(200)
    expect((await other.ask('/api/loops', { headers: { host: `127.0.0.3:${other.port}` } })).status).toBe(421)
  })

  test('a host that was allowed by name, even behind a TLS proxy', async () => {
    const allowing = await openServer({ allowHosts: ['Ralph.example', 'other.example:8443'] })
    const statusBy = async (headers: Record<string, string>) => (await allowing.ask('/api/loops', { headers })).status
    expect(await statusBy({ host: 'ralph.example', origin: 'https://ralph.example' })).toBe(200)
    expect(
      await statusBy({ host: `ralph.example:${allowing.port}`, origin: `http://ralph.example:${allowing.port}` }),
    ).toBe(200)
    expect(await statusBy({ host: 'other.example:8443' })).toBe(200)
    expect(await statusBy({ host: 'other.example' })).toBe(421)
    expect(await statusBy({ host: 'ralph.example', origin: 'https://other.example:8443' })).toBe(403)
    expect(await statusBy({ host: 'sub.ralph.example' })).toBe(421)
  })
})

test('HEAD opens no live stream', async () => {
  const { status, headers } = await server.ask('/api/live', { method: 'HEAD' })
  expect([status, headers.allow]).toEqual([405, 'GET'])
  expect((await server.ask('/api/loops', { method: 'HEAD' })).status).toBe(200)
})

test('a response never contains a header that a request made up', async () => {
  const { headers, text } = await server.ask('/api/loops/x%0d%0aSet-Cookie:%20a=b')
  expectNoDoors(headers)
  expect(JSON.parse(text).error.code).toBe('input-invalid')
})

test('a request for another host in its first line is refused', async () => {
  const line = `GET http://evil.com/api/loops HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nConnection: close\r\n\r\n`
  expect(await sendRaw(server.port, line)).toMatch(/^HTTP\/1\.1 421 /)
})

test.each([
  ['two lengths', 'POST /api/tasks HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
  [
    'a length and chunks',
    'POST /api/tasks HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['no host', 'GET /api/loops HTTP/1.1\r\n\r\n'],
  ['nonsense', '\0\0\0\r\n\r\n'],
  ['a header of 100 KB', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(100_000)}\r\n\r\n`],
])('an invalid request is refused: %s', async (_, text) => {
  expect(await sendRaw(server.port, text)).toMatch(/^HTTP\/1\.1 4\d\d /)
  expect((await server.ask('/api/loops')).status).toBe(200)
})

function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((answer) => {
    let heard = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.setEncoding('utf8').on('data', (part: string) => (heard += part))
    socket.on('error', () => {}).on('close', () => answer(heard))
  })
}

test('no other address of this machine leads to the server', async () => {
  const others = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).filter(({ internal, family }) => !internal && family === 'IPv4'),
  )
  for (const { address } of others) {
    const reached = await new Promise((answer) => {
      const socket = connect(server.port, address, () => answer(true)).on('error', () => answer(false))
      socket.unref()
    })
    expect(reached).toBe(false)
  }
})

test.each<[what: string, host: string, allowHosts: string[], sentence: string]>([
  ['every address', '0.0.0.0', [], '0.0.0.0 can be reached from other machines.'],
  ['another address', '192.0.2.1', [], '192.0.2.1 can be reached from other machines.'],
  ['every address of IPv6', '::', [], ':: can be reached from other machines.'],
  ['a name', 'localhost', [], '--host must be an IP address such as 127.0.0.1, got "localhost".'],
  ['an address that is not ours', '192.0.2.1', ['a.example'], '192.0.2.1 is not an address of this machine.'],
  ['an invalid host', '127.0.0.1', ['*'], '--allow-host must be a name'],
  ['a host that is a URL', '127.0.0.1', ['http://a.example'], '--allow-host must be a name'],
])('a server is not opened to %s', async (_, host, allowHosts, sentence) => {
  await expect(openServer({ host, allowHosts })).rejects.toThrow(sentence)
})
