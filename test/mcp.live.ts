/** ralph's MCP server with the programs that use it: the Inspector, the conformance suite, Claude Code and OpenCode. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { claude } from './clients/claude.ts'
import { codex } from './clients/codex.ts'
import { copilot } from './clients/copilot.ts'
import { droid } from './clients/droid.ts'
import { gemini } from './clients/gemini.ts'
import { opencode } from './clients/opencode.ts'
import { qwen } from './clients/qwen.ts'
import { type Client, installClient, pathWith } from './clients.ts'
import { type Reply, startModelServer } from './model-server.ts'
import { LAUNCHER, makePlace, type Place, query, until } from './ralph.ts'

const INSPECTOR = { name: 'inspector', pin: '@modelcontextprotocol/inspector@2.12.0', program: 'mcp-inspector' }
const CONFORMANCE = { name: 'conformance', pin: '@modelcontextprotocol/conformance@0.1.16', program: 'conformance' }
const DONE = 'echo done > work.txt; echo "<promise>COMPLETE</promise>"'

type Ended = { code: number | null; stdout: string; stderr: string }

async function run(program: string, args: string[], { cwd, env }: { cwd: string; env: object }): Promise<Ended> {
  const child = spawn(program, args, { cwd, env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text))
  const timer = setTimeout(() => child.kill('SIGKILL'), 150_000)
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(timer)
  return { code, ...output }
}

/** An npm program that is not a model client. */
function installTool(tool: { name: string; pin: string; program: string }) {
  return installClient({ ...claude, ...tool })
}

type Serving = { url: string; token: string }

/** `ralph serve` in this place. */
async function serve(place: Place): Promise<Serving> {
  const child: ChildProcess = spawn(process.execPath, [LAUNCHER, 'serve', '--port', '0', '--json'], {
    cwd: place.dir,
    env: place.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'close')
  })
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  const line = await until("the server's address", () => text.split('\n').find((one) => one.includes('token')))
  return JSON.parse(line) as Serving
}

describe('the Inspector', () => {
  const cases = (['legacy', 'auto', 'modern'] as const).flatMap((era) =>
    (['stdio', 'HTTP'] as const).map((way) => ({ era, way })),
  )

  test.for(cases)('finds no errors and calls tools, $era over $way', async ({ era, way }, { skip }) => {
    const installed = installTool(INSPECTOR)
    if ('missing' in installed) return skip(installed.missing)
    const place = makePlace()
    const at = way === 'HTTP' ? await serve(place) : undefined
    const target = at
      ? [new URL('/mcp', at.url).href, '--transport', 'http', '--header', `Authorization: Bearer ${at.token}`]
      : [process.execPath, LAUNCHER, 'mcp']
    const inspect = (method: string, ...more: string[]) => {
      const asked = ['--cli', '--protocol-era', era, '--method', method, ...more]
      const args = at ? ['--cli', ...target, ...asked.slice(1)] : [...asked, ...target]
      return run(process.execPath, [join(installed.bin, INSPECTOR.program), ...args], {
        cwd: place.dir,
        env: place.env,
      })
    }
    const call = (name: string, input: object) =>
      inspect('tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(input), '--format', 'json')
    const list = await inspect('tools/list', '--strict')
    expect(list).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(list.stdout).tools).toHaveLength(23)
    const created = await call('create_task', { title: 'Build it' })
    expect(created, created.stderr).toMatchObject({ code: 0 })
    const [, id] = /"id":\s*"(\w+)"/.exec(created.stdout) ?? []
    expect(await call('get_task', { task_id: id })).toMatchObject({ code: 0 })
    // It cannot ask its user, so it must confirm by itself.
    const refused = await call('delete_task', { task_id: id })
    expect(refused.code).toBe(5)
    expect(refused.stdout + refused.stderr).toContain('unconfirmed')
    expect(await call('delete_task', { task_id: id, confirm: true })).toMatchObject({ code: 0 })
    expect(await inspect('resources/read', '--uri', 'ralph://board')).toMatchObject({ code: 0 })
    expect(await inspect('prompts/list')).toMatchObject({ code: 0 })
  })
})

/** What the suite tests without requiring a server to have special tools, resources and prompts. */
const SCENARIOS = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'prompts-list',
  'dns-rebinding-protection',
]

test.for(SCENARIOS)('the conformance suite passes: %s', async (scenario, { skip }) => {
  const installed = installTool(CONFORMANCE)
  if ('missing' in installed) return skip(installed.missing)
  const place = makePlace()
  const door = await openDoor(await serve(place))
  const env = { ...place.env, PATH: pathWith(installed.bin) }
  const program = join(installed.bin, CONFORMANCE.program)
  const asked = ['server', '--url', door, '--scenario', scenario]
  const ran = await run(process.execPath, [program, ...asked], { cwd: place.root, env })
  expect(ran, ran.stdout + ran.stderr).toMatchObject({ code: 0 })
})

/** The suite knows no token: this proxy adds it, and passes everything else on. */
async function openDoor({ url, token }: Serving): Promise<string> {
  const { port } = new URL(url)
  const server = createServer((asked, answer) => {
    const own = (server.address() as AddressInfo).port
    const host = (asked.headers.host ?? '').replace(String(own), port)
    const origin = asked.headers.origin?.replace(String(own), port)
    const headers = { ...asked.headers, host, authorization: `Bearer ${token}`, ...(origin ? { origin } : {}) }
    const passed = request({ port, path: asked.url, method: asked.method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 500, response.headers)
      response.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    asked.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://localhost:${(server.address() as AddressInfo).port}/mcp`
}

/** How a client is called, and how it gets a server's address. Without one it gets what `ralph install` writes. */
type User = {
  client: Client
  argv: string[]
  tell?(place: Place, at: Serving): { args?: string[]; config?: object }
  /** What shows that it is connected, if its model must search for tools first, or gets them only later. */
  connected?: RegExp
}

const PROMPT = 'Build it with ralph.'

const USERS: User[] = [
  {
    client: claude,
    argv: ['-p', PROMPT, '--dangerously-skip-permissions'],
    tell(place, { url, token }) {
      const file = join(place.root, 'mcp.json')
      const ralph = { type: 'http', url: `${url}mcp`, headers: { Authorization: `Bearer ${token}` } }
      writeFileSync(file, JSON.stringify({ mcpServers: { ralph } }))
      return { args: ['--mcp-config', file] }
    },
  },
  {
    client: opencode,
    argv: ['run', '--auto', PROMPT],
    tell: (_, { url, token }) => ({
      config: { mcp: { ralph: { type: 'remote', url: `${url}mcp`, headers: { Authorization: `Bearer ${token}` } } } },
    }),
  },
  {
    client: codex,
    argv: ['exec', '--dangerously-bypass-approvals-and-sandbox', PROMPT],
    connected: /ralph runs a coding agent/,
  },
  { client: gemini, argv: ['--yolo', '--skip-trust', '-p', PROMPT] },
  { client: copilot, argv: ['-p', PROMPT, '--yolo', '--no-auto-update'] },
  { client: qwen, argv: ['--yolo', PROMPT] },
  { client: droid, argv: ['mcp', 'list'], connected: /ralph +stdio +connected/ },
]

const uses = USERS.flatMap((user) =>
  [...(['stdio'] as const), ...(user.tell ? (['HTTP'] as const) : [])].map((way) => ({
    user,
    way,
    name: user.client.name,
  })),
)

test.for(uses)('$name uses the tools, over $way', async ({ user, way }, { skip }) => {
  const { client, argv, tell, connected } = user
  const installed = installClient(client)
  if ('missing' in installed) return skip(installed.missing)
  const place = makePlace()
  const model = await startModelServer(manager(place), client)
  onTestFinished(() => model.close())
  mkdirSync(join(place.root, 'home', '.gemini'), { recursive: true })
  const env: Record<string, string | undefined> = {
    ...place.env,
    PATH: pathWith(installed.bin),
    ...client.prepare(join(place.root, 'home'), model.url),
  }
  if (way === 'stdio')
    expect(await place.ralph(['install', client.name, '--mcp', '--yes'], { env })).toMatchObject({ code: 0 })
  const { args = [], config = {} } = way === 'HTTP' && tell ? tell(place, await serve(place)) : {}
  const settings = env.OPENCODE_CONFIG_CONTENT
  if (settings) env.OPENCODE_CONFIG_CONTENT = JSON.stringify({ ...JSON.parse(settings), ...config })
  const output = await run(client.program, [...argv, ...args], { cwd: place.dir, env })
  if (connected) return expect(output.stdout + JSON.stringify(model.requests)).toMatch(connected)
  const asked = JSON.stringify(model.requests.at(-1) ?? null).slice(-3_000)
  expect(output.stdout, `${output.stderr}\n${asked}`).toContain('It is verified.')
  const [row] = query(place, 'SELECT record FROM board_task')
  expect(JSON.parse(String(row?.record))).toMatchObject({ title: 'Build it', status: 'done', created_by: 'agent' })
})

/** A model that creates a task, starts it, and waits until it has ended. Each client has its own names for the tools. */
function manager(place: Place): (body: unknown) => Reply {
  const agent = place.agent(DONE)
  return (body) => {
    const said = JSON.stringify(body).replaceAll('\\', '')
    const [, prefix] = /((?:mcp_+)?ralph[_-]+)create_task/.exec(said) ?? []
    if (prefix === undefined) return { text: 'There are no tools.' }
    const use = (name: string, input: object): Reply => ({ tools: [{ name: `${prefix}${name}`, input }] })
    const [, task] = /\{"id":"(\w+)","project_id"/.exec(said) ?? []
    const [, loop] = /\{"loop":"(\w+)"/.exec(said) ?? []
    const [, grade] = /"sentence":"complete, proof: (\w+)/.exec(said) ?? []
    if (grade) return { text: `It is ${grade}.` }
    const seq = [...said.matchAll(/"seq":(\d+),"events"/g)].at(-1)?.[1] ?? 0
    if (loop) return use('wait_loop', { loop, after: Number(seq), seconds: 20 })
    if (task) return use('start_loop', { task_id: task })
    return use('create_task', { title: 'Build it', checks: ['test -e work.txt'], agent })
  }
}
