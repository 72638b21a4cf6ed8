import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { drawChance } from '../../host/chance.test-support.ts'
import { eventually } from '../../host/place.test-support.ts'
import type { OperationName } from '../../operations/index.ts'
import { openPlace } from '../../operations/place.test-support.ts'
import { ROUTES } from '../../operations/routes.ts'
import { SCHEMAS } from '../../operations/schemas.ts'
import { answerOnce } from './answers.ts'
import { type Schema, valuesOf } from './chance.test-support.ts'
import { type Client, createClient } from './client.ts'
import { answerError } from './errors.ts'
import { inputSchema, readInput } from './input.ts'
import { mountRoutes } from './rest.ts'
import { type Answered, openServer, startServer, type TestServer } from './serve.test-support.ts'

const routed = Object.keys(ROUTES) as OperationName[]

/** A client whose requests are only parsed: it gets back what arrived. */
function openMirror(): Client {
  const app = mountRoutes(async (asked, name) => Response.json({ name, input: await readInput(asked, name) }))
  const fetch = (url: string | URL | Request, init?: RequestInit) => Promise.resolve(app.request(url as URL, init))
  return createClient({ url: 'http://127.0.0.1/', token: 'none', fetch })
}

describe('what a client sends is what the operation gets', () => {
  const mirror = openMirror()
  const { runs, seed } = drawChance({ runs: 20 })

  test.each(routed)('%s', async (name) => {
    const fields = [...(ROUTES[name]?.path ?? '').matchAll(/\{(\w+)\}/g)].map(([, field = '']) => field)
    const { input } = SCHEMAS[name]
    const schema = inputSchema(name) as Schema
    const inputs = valuesOf({ ...schema, required: [...(schema.required ?? []), ...fields] }).filter(
      (value) => input.safeParse(value).success && isInPath(value, fields),
    )
    await fc.assert(
      fc.asyncProperty(inputs, async (value) => {
        expect(await mirror.call(name, value as never)).toEqual({ name, input: JSON.parse(JSON.stringify(value)) })
      }),
      { numRuns: runs, seed },
    )
  })
})

/** What can be between two slashes. */
function isInPath(value: unknown, fields: readonly string[]): boolean {
  const texts = fields.map((field) => String((value as Record<string, unknown>)[field]))
  return texts.every((text) => text.isWellFormed() && !/^\.{0,2}$/.test(text))
}

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const send = (method: string, path: string, input: object, headers: Record<string, string> = {}) =>
  server.ask(path, { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(input) })
const read = ({ text }: Answered) => JSON.parse(text)

test('lists are repeated, comma-separated, or JSON', async () => {
  for (const query of ['status=todo&status=done', 'status=todo,done', 'status=%5B%22todo%22,%22done%22%5D'])
    expect((await server.ask(`/api/tasks?${query}`)).status).toBe(200)
  const wrong = await server.ask('/api/tasks?status=todo,nope')
  expect(wrong.status).toBe(400)
  expect(read(wrong).error).toMatchObject({ code: 'input-invalid', field: 'status[1]' })
})

test('a check that is being tried stops when the caller hangs up', async () => {
  const { url, token, cwd } = server
  writeFileSync(join(cwd, 'slow.sh'), '#!/bin/sh\necho $$ > pid; exec sleep 600\n', { mode: 0o755 })
  const gone = new AbortController()
  const { signal } = gone
  const asked = createClient({ url, token }).call('try_checks', { checks: ['./slow.sh'] }, { signal })
  const pid = await eventually(() =>
    existsSync(join(cwd, 'pid')) ? Number(readFileSync(join(cwd, 'pid'), 'utf8')) : 0,
  )
  gone.abort()
  await expect(asked).rejects.toThrow()
  await eventually(() => !isAlive(pid))
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false // no such process
  }
}

test.each<[path: string, field: string, sentence: string]>([
  ['/api/loops?limit=ten', 'limit', 'list_loops: limit must be a number, got "ten".'],
  ['/api/loops?limit=1&limit=2', 'limit', 'list_loops: limit must be a number, got a list.'],
  ['/api/loops?nonsense=1', 'nonsense', 'list_loops has no field "nonsense".'],
  ['/api/loops?__proto__=1', '__proto__', 'list_loops has no field "__proto__".'],
  ['/api/loops/a/iterations/one', 'iteration', 'get_iteration: iteration must be a number, got "one".'],
  ['/api/loops/a%2Fb', 'loop', 'get_loop: loop must be a name, not a path, got "a/b".'],
  ['/api/loops/a?loop=b', 'loop', 'get_loop: loop is already in the path.'],
])('%s says what is wrong with %s', async (path, field, sentence) => {
  const answer = await server.ask(path)
  expect(answer.status).toBe(400)
  expect(read(answer).error).toMatchObject({ code: 'input-invalid', field, message: expect.stringContaining(sentence) })
})

test('an operation that fails has the status of its code', async () => {
  const unknown = await server.ask('/api/loops/nowhere')
  expect(unknown.status).toBe(404)
  expect(read(unknown)).toEqual({
    error: { code: 'loop-unknown', message: expect.stringContaining('nowhere'), help: expect.any(String) },
  })
})

describe('a version', () => {
  test('is returned as ETag, and a change that names another one is refused', async () => {
    const made = await send('POST', '/api/tasks', { title: 'One' })
    expect(made.headers.etag).toBe('"1"')
    const { id } = read(made)
    const changed = await send('PATCH', `/api/tasks/${id}`, { title: 'Two' }, { 'if-match': '"1"' })
    expect(changed.headers.etag).toBe('"2"')
    const late = await send('PATCH', `/api/tasks/${id}`, { title: 'Three' }, { 'if-match': '"1"' })
    expect(late.status).toBe(412)
    expect(read(late).error).toMatchObject({ code: 'task-changed', field: 'version' })
    const found = await server.ask(`/api/tasks/${id}`)
    expect([found.headers.etag, read(found).title]).toEqual(['"2"', 'Two'])
    expect((await server.ask(`/api/tasks/${id}`, { method: 'DELETE', headers: { 'if-match': '"1"' } })).status).toBe(
      412,
    )
    expect((await server.ask(`/api/tasks/${id}`, { method: 'DELETE', headers: { 'if-match': '"2"' } })).status).toBe(
      200,
    )
  })

  test.each(['2', 'W/"2"', '"1", "2"', '"x"', ''])('that is invalid is refused: %s', async (version) => {
    const { id } = read(await send('POST', '/api/tasks', { title: 'One' }))
    const answer = await send('PATCH', `/api/tasks/${id}`, { title: 'Two' }, { 'if-match': version })
    expect(answer.status).toBe(400)
  })

  test('any version is accepted with a star, or without the header', async () => {
    const { id } = read(await send('POST', '/api/tasks', { title: 'One' }))
    expect((await send('PATCH', `/api/tasks/${id}`, { title: 'Two' }, { 'if-match': '*' })).status).toBe(200)
    expect((await send('PATCH', `/api/tasks/${id}`, { title: 'Three' })).status).toBe(200)
    const twice = await send('PATCH', `/api/tasks/${id}`, { title: 'Two', version: 3 }, { 'if-match': '"4"' })
    expect(read(twice).error.message).toBe('If-Match names version 4, but the input names another one.')
    const aside = await send('PUT', '/api/groups/g', { name: 'G' }, { 'if-match': '"1"' })
    expect([aside.status, read(aside).error.message]).toEqual([
      400,
      'If-Match has no meaning here: only tasks have versions. Leave it out.',
    ])
  })
})

describe('an Idempotency-Key', () => {
  const titles = async () => read(await server.ask('/api/tasks')).tasks.map(({ title }: { title: string }) => title)

  test('makes a request count once, however often it is sent', async () => {
    const make = () => send('POST', '/api/tasks', { title: 'Keyed' }, { 'idempotency-key': 'key-1' })
    const answers = await Promise.all([make(), make(), make()])
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0)
    expect(statuses.every((status) => status === 200 || status === 409)).toBe(true)
    const again = await make()
    expect(again.text).toBe(answers.find(({ status }) => status === 200)?.text)
    expect(again.headers.etag).toBe('"1"')
    expect((await titles()).filter((title: string) => title === 'Keyed')).toHaveLength(1)
  })

  test('is refused for another request', async () => {
    const key = { 'idempotency-key': 'key-2' }
    await send('POST', '/api/tasks', { title: 'First' }, key)
    const other = await send('POST', '/api/tasks', { title: 'Other' }, key)
    expect([other.status, read(other).error.code]).toEqual([422, 'key-reused'])
    expect((await send('POST', '/api/loops/x/pause', {}, key)).status).toBe(422)
    expect(await titles()).not.toContain('Other')
  })

  test('is free again after a request that failed', async () => {
    const key = { 'idempotency-key': 'key-3' }
    expect((await send('POST', '/api/tasks', { title: '' }, key)).status).toBe(400)
    expect((await send('POST', '/api/tasks', { title: 'Right' }, key)).status).toBe(200)
  })

  test('matches the same fields in any order', async () => {
    const key = { 'idempotency-key': 'key-4' }
    const first = await send('POST', '/api/tasks', { title: 'Ordered', limits: { minutes: 1, cost_usd: 2 } }, key)
    const again = await send('POST', '/api/tasks', { limits: { cost_usd: 2, minutes: 1 }, title: 'Ordered' }, key)
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text])
  })

  test.each(['', 'a b', 'x'.repeat(201), 'é'])('must be one: %s', async (key) => {
    expect((await send('POST', '/api/tasks', { title: 'No' }, { 'idempotency-key': key })).status).toBe(400)
  })

  test('outlives the server', async () => {
    const first = await openServer()
    const make = ({ ask }: TestServer) =>
      ask('/api/tasks', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
        body: '{"title":"Once"}',
      })
    const { text } = await make(first)
    await first.stop()
    const second = await openServer({ env: { PATH: process.env.PATH, RALPH_HOME: first.home } })
    expect((await make(second)).text).toBe(text)
    expect(read(await second.ask('/api/tasks')).tasks).toHaveLength(1)
  })

  test('of a request that was carried out is not free, even if its answer could not be stored', async () => {
    const { answers } = openPlace().context.store()
    const keyed = { key: 'k', request: 'request', startedAt: 0 }
    const calls: string[] = []
    const ask = async () => calls.push('asked')
    const end = () => Promise.reject(new Error('The disk is full.'))
    await expect(answerOnce({ ...answers, end }, keyed, ask)).rejects.toThrow('The disk is full.')
    await expect(answerOnce(answers, keyed, ask)).rejects.toMatchObject({ code: 'key-busy' })
    expect(calls).toHaveLength(1)
  })

  test('of a request that a killed server never answered says so', async () => {
    const { context } = openPlace()
    const { answers } = context.store()
    const began = await answers.begin('k', createHash('sha256').update('request').digest('hex'), 0)
    expect(began.kind).toBe('new')
    const keyed = { key: 'k', request: 'request', startedAt: Date.now() + 1_000 }
    const lost = await answerOnce(answers, keyed, () => Promise.reject(new Error('asked'))).catch(answerError)
    expect(lost).toMatchObject({ status: 409 })
    expect(await (lost as Response).json()).toMatchObject({
      error: { code: 'key-lost', help: expect.stringContaining('new key') },
    })
  })
})
