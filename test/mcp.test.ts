/**
 * `ralph mcp` as agents start it: a process that speaks MCP on stdin and stdout, and runs what it was asked to start.
 */
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test } from 'vitest'
import { LAUNCHER, makePlace, type Place, query, until } from './ralph.ts'
import { onDatabase } from './served.ts'

type Era = 'legacy' | 'auto'
type Answer = Record<string, unknown>

const CLIENT = { name: 'test', version: '1.0.0' }
const DONE = 'echo done > work.txt; echo "<promise>COMPLETE</promise>"'

async function connect(place: Place, era: Era = 'auto', capabilities = {}) {
  const client = new Client(CLIENT, { versionNegotiation: { mode: era }, capabilities })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [LAUNCHER, 'mcp'],
    cwd: place.dir,
    env: place.env,
    stderr: 'pipe',
  })
  await client.connect(transport)
  onTestFinished(() => client.close())
  const use = async (name: string, input: object = {}): Promise<Answer> => {
    const { content, structuredContent } = await client.callTool({ name, arguments: { ...input } })
    const [first] = content
    return (structuredContent ?? JSON.parse(first?.type === 'text' ? first.text : '{}')) as Answer
  }
  return { client, use }
}

/** Keeps reading until the loop has stopped. */
async function follow(use: (name: string, input: object) => Promise<Answer>, loop: unknown): Promise<Answer> {
  for (let after = 0; ; ) {
    const news = await use('wait_loop', { loop, after })
    if (!['queued', 'running', 'verifying'].includes(String(news.status))) return news
    after = Number(news.seq)
  }
}

test.each<Era>(['legacy', 'auto'])('a task is created, started and followed until it is verified (%s)', async (era) => {
  const place = onDatabase(makePlace())
  const { use } = await connect(place, era)
  const { id } = await use('create_task', {
    title: 'Build it',
    checks: ['test -e work.txt'],
    agent: place.agent(DONE),
  })
  const { loop, queued } = await use('start_loop', { task_id: id })
  expect(queued).toBe(true)
  expect(await follow(use, loop)).toMatchObject({ status: 'completed', unattended: false })
  expect(await use('get_loop', { loop })).toMatchObject({ proof: 'verified', iteration: 1 })
  expect(await use('get_task', { task_id: id })).toMatchObject({ status: 'done', loop_id: loop })
})

test.each<Era>(['legacy', 'auto'])(
  'a client that can ask its user does so before anything is lost (%s)',
  async (era) => {
    const place = onDatabase(makePlace())
    const { client, use } = await connect(place, era, { elicitation: { form: {} } })
    const asked: string[] = []
    let answer = false
    client.setRequestHandler('elicitation/create', ({ params: { message } }) => {
      asked.push(message)
      return { action: 'accept', content: { confirm: answer } }
    })
    const { id } = await use('create_task', { title: 'Build it' })
    expect(await use('delete_task', { task_id: id })).toEqual({
      error: { code: 'declined', message: 'delete_task was not confirmed; nothing was done.' },
    })
    answer = true
    expect(await use('delete_task', { task_id: id })).toEqual({ task_id: id })
    expect(asked).toHaveLength(2)
    expect(asked[0]).toMatch(/^Task \w+ \(Build it\) would be removed for good/)
  },
)

test('a client that only reads leaves queued loops to others', async () => {
  const place = onDatabase(makePlace())
  const first = await connect(place)
  const { loop } = await first.use('start_loop', { prompt: 'Build it', agent: place.agent('sleep 60') })
  await until('the agent works', () => place.calls()[0])
  await first.client.close()
  await until('the loop is paused', () => statusOf(place, loop) === 'paused')
  const second = await connect(place)
  expect(await second.use('get_loop', { loop })).toMatchObject({ status: 'paused', alive: false })
  expect(await second.use('stop_loop', { loop })).toMatchObject({ error: { code: 'unconfirmed' } })
  expect(await second.use('stop_loop', { loop, confirm: true })).toEqual({ loops: [{ loop, heard: 'here' }] })
})

function statusOf(place: Place, loop: unknown): unknown {
  const [row] = query(place, 'SELECT status FROM loop WHERE id = ?', String(loop))
  return row?.status
}

test.each<Era>(['legacy', 'auto'])('a client is notified when a resource changes (%s)', async (era) => {
  const place = onDatabase(makePlace())
  const { client, use } = await connect(place, era)
  const updated: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri))
  const { id } = await use('create_task', { title: 'Build it' })
  const uri = `ralph://task/${id}`
  if (era === 'legacy') await client.subscribeResource({ uri })
  else await client.listen({ resourceSubscriptions: [uri] })
  await use('update_task', { task_id: id, priority: 3 })
  await until('the notification', () => updated[0])
  expect(new Set(updated)).toEqual(new Set([uri]))
})

test('stdout carries only the protocol, and the server stops with its stdin', async () => {
  const place = onDatabase(makePlace())
  const { code, stdout, stderr } = await place.ralph(['mcp'], {
    stdin: '{"jsonrpc":"2.0","id":1,"method":"ping"}\nnonsense\n',
    apart: true,
  })
  expect(code).toBe(0)
  for (const line of stdout.split('\n').filter(Boolean)) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
  expect(stderr).toBe('')
})

test('an unusable home is reported before a client is answered', async () => {
  const place = onDatabase(makePlace())
  place.write('home', 'a file')
  const asked = await place.ralph(['mcp'], { apart: true, stdin: '', env: { RALPH_HOME: `${place.dir}/home` } })
  expect([asked.code, asked.stdout]).toEqual([1, ''])
  expect(asked.stderr).toMatch(/^ralph: \S+\/home .*RALPH_HOME/)
})
