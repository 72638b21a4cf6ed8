/** Whatever is sent to an operation gets an answer, and never reveals a bug. `RALPH_TEST_RUNS=1000` tries more. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { drawChance } from '../../host/chance.test-support.ts'
import { temporaryFolder } from '../../host/place.test-support.ts'
import { databaseOf } from '../../host/postgres/postgres.test-support.ts'
import { call } from '../../operations/call.ts'
import { openContext } from '../../operations/context.ts'
import type { OperationName } from '../../operations/index.ts'
import type { Context } from '../../operations/operation.ts'
import { ROUTES } from '../../operations/routes.ts'
import { buildApp } from './app.ts'
import { nonsense, type Schema, valuesOf } from './chance.test-support.ts'
import { inputSchema } from './input.ts'
import { openMcp } from './mcp-http.ts'
import type { App } from './rest.ts'

const { runs, seed } = drawChance({ runs: 15 })
const HOST = '127.0.0.1:4444'

let context: Context
let app: App
/** Existing names, so that operations get further than looking one up. */
let known: Record<string, fc.Arbitrary<unknown>>
let bugs: unknown[] = []

beforeAll(async () => {
  const cwd = temporaryFolder()
  const home = join(temporaryFolder(), 'home')
  for (const folder of ['vault/Needs_Action', 'empty']) mkdirSync(join(cwd, folder), { recursive: true })
  writeFileSync(join(cwd, 'vault', 'Needs_Action', 'a.md'), 'Write it.\n')
  writeFileSync(join(cwd, 'tasks.md'), '- [ ] One\n- [x] Two\n')
  const env = { PATH: '/usr/bin:/bin', HOME: home }
  context = openContext({ root: '/', home, cwd: () => cwd, env, note: () => {}, ...databaseOf(home) })
  app = buildApp({
    context,
    doors: { hosts: new Map([[HOST, [`http://${HOST}`]]]), token: 'token' },
    version: '1.2.3',
    startedAt: 0,
    assets: { answer: () => new Response('page') },
    bug: (cause) => void bugs.push(cause),
  })
  known = await fillPlace(cwd)
})
afterAll(() => context.close())

async function fillPlace(cwd: string): Promise<typeof known> {
  const ask = async (name: OperationName, input: object) => (await call(context, name, input)) as Record<string, string>
  const tasks = [await ask('create_task', { title: 'One' }), await ask('create_task', { title: 'Two' })]
  const loops = [
    await ask('start_loop', { prompt: 'Build it', agent: 'command:true', checks: ['false'], dir: cwd }),
    await ask('start_loop', { prompt: 'Build it', agent: 'command:true', dir: cwd }),
  ]
  await ask('init_project', { project: 'shop' })
  await ask('start_vault_task', { vault: join(cwd, 'vault'), file: 'Needs_Action/a.md' })
  const folders = [cwd, join(cwd, 'vault'), join(cwd, 'empty'), join(cwd, 'tasks.md'), 'vault', 'tasks.md', 'nowhere']
  const oneOf = (...names: (string | undefined)[]) => fc.constantFrom(...names)
  const taskIds = oneOf(...tasks.map(({ id }) => id))
  return {
    task_id: taskIds,
    depends_on: fc.uniqueArray(taskIds),
    loop: oneOf(...loops.map(({ loop }) => loop), 'shop'),
    project: oneOf('shop', 'other'),
    task: oneOf('a', '1'),
    agent: oneOf('command:true', 'nobody', '1'),
    checks: fc.array(oneOf('true', 'false', 'auto', './nowhere'), { minLength: 1, maxLength: 3 }),
    ...Object.fromEntries([...PLACES].map((name) => [name, oneOf(...folders)])),
  }
}

test.each(Object.keys(ROUTES) as OperationName[])('%s never reveals a bug', async (name) => {
  const schema = inputSchema(name) as Schema
  const field = (each: string) => known[each] && fc.oneof({ weight: 9, arbitrary: known[each] }, dull)
  const { properties = {}, required = [] } = schema
  const usual = ['prompt', 'agent'].filter((each) => each in properties && !required.includes(each))
  const values = valuesOf({ ...schema, required: [...required, ...usual] }, { field })
  const right = 'seconds' in properties ? values.map((value) => ({ ...(value as object), seconds: 0 })) : values
  const changed = fc.tuple(right, fc.constantFrom(...Object.keys(properties), 'nonsense'), nonsense())
  const wrong = changed.map(([value, each, odd]) => ({
    ...(value as object),
    ...(PLACES.has(each) || LEFT[name]?.includes(each) ? {} : { [each]: odd }),
  }))
  bugs = []
  const statuses = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(fc.oneof(right, wrong, nonsense()), async (input) => {
      const { status } = await app.request(requestOf(name, input), undefined, FROM_ELSEWHERE)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      expect(bugs).toEqual([])
      expect(Math.floor(status / 100)).toBeOneOf([2, 4])
    }),
    { numRuns: runs, seed },
  )
  if (process.env.RALPH_TEST_RUNS) console.log(name, Object.fromEntries(statuses))
})

/** Where a random value could be a folder of this machine. */
const PLACES = new Set(['dir', 'repo', 'vault', 'file', 'config', 'database', 'from', 'path'])
/** Where a random value could mean a long wait, or a program. */
const LEFT: Partial<Record<OperationName, string[]>> = { wait_loop: ['seconds'], try_checks: ['checks'] }
const dull = fc.constantFrom('', 'nowhere', 'a b', '\0', 'x'.repeat(5_000), '🦆')

/** As if from another machine: the calling process is not looked up. */
const FROM_ELSEWHERE = { incoming: { socket: { remoteAddress: '192.0.2.1', remotePort: 1, localPort: 2 } } }

/** However invalid the input is, it is sent in this operation's format. */
function requestOf(name: OperationName, input: unknown): Request {
  const { method, path } = ROUTES[name] ?? { method: 'GET', path: '/' }
  // The start of a loop's id may match by chance, and nothing waits for it here.
  const impatient = name === 'wait_loop' ? { seconds: 0 } : {}
  const given = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}
  const fields: Record<string, unknown> = { ...impatient, ...given }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = fields[field]
    delete fields[field]
    return encodeURIComponent(textOf(value).toWellFormed()) || 'x'
  })
  const headers = { host: HOST, authorization: 'Bearer token', 'content-type': 'application/json' }
  if (method !== 'GET' && method !== 'DELETE') {
    const body = typeof input === 'object' && input !== null && !Array.isArray(input) ? fields : input
    return new Request(`http://${HOST}${filled}`, { method, headers, body: JSON.stringify(body) })
  }
  const query = new URLSearchParams()
  for (const [field, value] of Object.entries(fields))
    for (const one of Array.isArray(value) ? value : [value]) query.append(field, textOf(one))
  return new Request(`http://${HOST}${filled}?${query}`, { method, headers })
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

test.each(['{"title":"x","more":DEEP}', '{"title":DEEP}', 'DEEP'])('the body %s is refused', async (body) => {
  bugs = []
  const headers = {
    host: HOST,
    authorization: 'Bearer token',
    'content-type': 'application/json',
    'idempotency-key': 'k',
  }
  const request = new Request(`http://${HOST}/api/tasks`, { method: 'POST', headers, body: deeply(body) })
  const answer = await app.request(request, undefined, FROM_ELSEWHERE)
  expect(await answer.text()).toContain('it is nested more than 200 levels deep.')
  expect(bugs).toEqual([])
  expect(answer.status).toBe(400)
})

test.each(['{"name":"create_task","arguments":{"title":DEEP}}', '{"name":DEEP}', 'DEEP'])(
  'the call %s through MCP is answered',
  async (params) => {
    const mcp = openMcp({ ...context, root: join(import.meta.dirname, '../../..') })
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const body = deeply(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`)
    const answer = await mcp.fetch(new Request(`http://${HOST}/mcp`, { method: 'POST', headers, body }))
    expect(await answer.text()).not.toMatch(/call stack|bug/)
    expect(answer.status).toBeLessThan(500)
    await mcp.close()
  },
)

function deeply(json: string): string {
  return json.replace('DEEP', '['.repeat(50_000) + ']'.repeat(50_000))
}
