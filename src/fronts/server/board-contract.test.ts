import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { BOARD_DEFAULTS, type BoardFields } from '../../formats/board-task.ts'
import { temporaryFolder } from '../../host/place.test-support.ts'
import { call } from '../../operations/call.ts'
import type { Context } from '../../operations/operation.ts'
import { openPlace } from '../../operations/place.test-support.ts'
import { buildApp } from './app.ts'
import { openAssets } from './assets.ts'
import { connect, use } from './mcp.test-support.ts'

type Answer = { data: Record<string, unknown>; code?: string; field?: string }
type Ask = (operation: Operation, input: object) => Promise<Answer>
type Operation = 'create_task' | 'get_task' | 'update_task' | 'list_tasks' | 'delete_task'

const ROUTE: Readonly<Record<Operation, (id: string) => [method: string, path: string]>> = {
  create_task: () => ['POST', '/api/tasks'],
  get_task: (id) => ['GET', `/api/tasks/${id}`],
  update_task: (id) => ['PATCH', `/api/tasks/${id}`],
  delete_task: (id) => ['DELETE', `/api/tasks/${id}`],
  list_tasks: () => ['GET', '/api/tasks'],
}

/** Each way to the same operations. */
const WAYS: Readonly<Record<string, (context: Context) => Promise<Ask> | Ask>> = {
  library: (context) => async (operation, input) => {
    try {
      return { data: (await call(context, operation, input)) as Record<string, unknown> }
    } catch (cause) {
      const { code, field } = cause as { code: string; field?: string }
      return { data: {}, code, ...(field === undefined ? {} : { field }) }
    }
  },
  REST: async (context) => {
    const url = await listenWith(context)
    return async (operation, input) => {
      const { task_id = '', ...rest } = input as { task_id?: string }
      const [method, path] = ROUTE[operation](task_id)
      const isRead = method === 'GET' || method === 'DELETE'
      const query = isRead ? `?${new URLSearchParams(rest as Record<string, string>)}` : ''
      const answer = await fetch(`${url}${path}${query}`, {
        method,
        headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
        ...(isRead ? {} : { body: JSON.stringify(rest) }),
      })
      const data = (await answer.json()) as Record<string, unknown> & { error?: { code: string; field?: string } }
      return data.error ? { data: {}, ...data.error } : { data }
    }
  },
  MCP: async (context) => {
    const client = await connect(context)
    return async (operation, input) => {
      const confirmed = operation === 'delete_task' ? { ...input, confirm: true } : input
      const { isError, data, text } = await use(client, operation, confirmed)
      return isError ? { data: {}, ...JSON.parse(text).error } : { data }
    }
  },
}

async function listenWith(context: Context): Promise<string> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const app = buildApp({
    context,
    doors: { hosts: new Map([[`127.0.0.1:${port}`, []]]), token: 'secret' },
    version: '0',
    startedAt: 0,
    assets: openAssets('/nowhere'),
    bug: (cause) => console.error(cause),
  })
  server.on('request', getRequestListener(app.fetch))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${port}`
}

type Field = Exclude<keyof BoardFields, 'title'>

/** For each field two values other than its default. `depends_on` and `project_id` name what the test creates first. */
const VALUES: Readonly<Record<Field, readonly [unknown, unknown]>> = {
  project_id: ['shop', 'site'],
  description: ['All of it.\n\nIn "detail": 🦉', 'Less'],
  type: ['bug', 'docs'],
  labels: [['a', 'b'], ['c']],
  status: ['done', 'cancelled'],
  archived: [true, false],
  use_ralph_wiggum: [false, true],
  ralph_max_iterations: [15, 0],
  ralph_completion_promise: ['DONE', 'ALL GREEN'],
  stages: [[{ name: 'TESTS_PASS', check: 'npm test' }, { name: 'DOCS' }], [{ name: 'DOCS' }]],
  checks: [['npm test', 'npm run lint'], ['make']],
  limits: [{ minutes: 5, cost_usd: 1.5, tokens: 9, no_progress: 2, same_error: 4, adaptive: true }, { minutes: 7 }],
  agent: ['claude', 'codex,gemini'],
  depends_on: [['FIRST'], ['FIRST', 'SECOND']],
  priority: [5, -3],
  repo: ['/srv/shop', '.'],
  worktree: [true, false],
}

const FIELDS = Object.keys(VALUES) as Field[]

describe.each(Object.keys(WAYS))('a task by %s', (way) => {
  async function open(): Promise<{ ask: Ask; meant: (value: unknown) => unknown; first: string }> {
    const place = openPlace({ cwd: temporaryFolder() })
    for (const project_id of ['shop', 'site']) await place.run('set_group', { project_id })
    const [first, second] = [
      await place.run('create_task', { title: 'First' }),
      await place.run('create_task', { title: 'Second' }),
    ]
    const names: Record<string, string> = { FIRST: first.id, SECOND: second.id }
    const meant = (value: unknown) => (Array.isArray(value) ? value.map((one) => names[String(one)] ?? one) : value)
    const ask = await WAYS[way]?.(place.context)
    if (!ask) throw new Error(way)
    return { ask, meant, first: first.id }
  }

  test('has defaults for everything not given', async () => {
    const { ask } = await open()
    const { data } = await ask('create_task', { title: 'Plain' })
    expect(data).toMatchObject({ title: 'Plain', ...BOARD_DEFAULTS })
    expect(data).toMatchObject({ ralph_max_iterations: 10, ralph_completion_promise: 'COMPLETE' })
  })

  test.each(FIELDS)('keeps %s when it is created, read, changed, cleared and listed', async (field) => {
    const { ask, meant } = await open()
    const [one, other] = VALUES[field].map(meant)
    const made = await ask('create_task', { title: 'T', [field]: one })
    expect(made.data[field]).toEqual(one)
    const task_id = String(made.data.id)
    const read = async () => (await ask('get_task', { task_id })).data[field]
    const listed = async (archived: boolean) => {
      const { tasks } = (await ask('list_tasks', { archived })).data as { tasks: Record<string, unknown>[] }
      return tasks.find(({ id }) => id === task_id)?.[field]
    }
    expect(await read()).toEqual(one)
    expect(await listed(field === 'archived')).toEqual(one)
    expect((await ask('update_task', { task_id, title: 'Untouched otherwise' })).data[field]).toEqual(one)
    expect((await ask('update_task', { task_id, [field]: other })).data[field]).toEqual(other)
    expect(await read()).toEqual(other)
    expect((await ask('update_task', { task_id, [field]: null })).data[field]).toEqual(BOARD_DEFAULTS[field])
    expect(await read()).toEqual(BOARD_DEFAULTS[field])
    expect(await listed(false)).toEqual(BOARD_DEFAULTS[field])
    const cleared = await ask('create_task', { title: 'T', [field]: null })
    expect(cleared.data[field]).toEqual(BOARD_DEFAULTS[field])
  })

  test('keeps its title, which cannot be cleared', async () => {
    const { ask } = await open()
    const task_id = String((await ask('create_task', { title: 'One' })).data.id)
    expect((await ask('update_task', { task_id, title: 'Two' })).data.title).toBe('Two')
    expect((await ask('get_task', { task_id })).data.title).toBe('Two')
    for (const title of [null, '', ' ', 7])
      expect(await ask('update_task', { task_id, title })).toMatchObject({ code: 'input-invalid', field: 'title' })
    expect(await ask('create_task', {})).toMatchObject({ code: 'input-invalid', field: 'title' })
  })

  test.each(FIELDS)('refuses an invalid %s, naming the field, and stores nothing', async (field) => {
    const { ask, first } = await open()
    const wrong = { nonsense: true }
    const before = (await ask('get_task', { task_id: first })).data
    expect(await ask('create_task', { title: 'T', [field]: wrong })).toMatchObject({ code: 'input-invalid' })
    const refused = await ask('update_task', { task_id: first, [field]: wrong })
    expect(refused.code).toBe('input-invalid')
    expect(refused.field?.split(/[.[]/)[0]).toBe(field)
    expect((await ask('get_task', { task_id: first })).data).toEqual(before)
  })

  test('refuses an unknown field', async () => {
    const { ask, first } = await open()
    expect(await ask('create_task', { title: 'T', ralph_max_iteration: 3 })).toMatchObject({ code: 'input-invalid' })
    expect(await ask('update_task', { task_id: first, executor: 'claude' })).toMatchObject({ code: 'input-invalid' })
  })

  test('no longer exists once it is deleted', async () => {
    const { ask, first } = await open()
    expect((await ask('delete_task', { task_id: first })).data).toEqual({ task_id: first })
    expect(await ask('get_task', { task_id: first })).toMatchObject({ code: 'task-unknown' })
  })
})
