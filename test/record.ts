/**
 * Records what a real client prints, for the tests of its adapter: `node test/record.ts CLIENT [SCENE…]` writes
 * src/agents/fixtures/CLIENT/SCENE.jsonl. The command line is the adapter's own. Paths, ids and times are neutralised,
 * so that a new recording differs only where the client does.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Request } from '../src/agents/agent.ts'
import { parseAgent } from '../src/agents/index.ts'
import { parseJsonLine } from '../src/agents/json-line.ts'
import { carriers } from './carriers.ts'
import { CLIENTS } from './clients/index.ts'
import { type Client, installClient, pathWith } from './clients.ts'
import { startModelServer } from './model-server.ts'
import { type Scene, scenesFor } from './scenes.ts'

// A client's system prompt is long, and no adapter reads it.
const INSTRUCTIONS = new Set(['sections', 'toolsAdded'])

const [name = '', ...wanted] = process.argv.slice(2)
const client = CLIENTS.find((one) => one.name === name)
if (!client) throw new Error(`Name a client: ${CLIENTS.map((one) => one.name).join(', ')}.`)
const installed = installClient(client)
if ('missing' in installed) throw new Error(installed.missing)
const folder = resolve('src/agents/fixtures', name)
mkdirSync(folder, { recursive: true })
for (const [scene, script] of Object.entries(scenesFor(client)))
  if (wanted.length === 0 || wanted.includes(scene))
    writeFileSync(join(folder, `${scene}.jsonl`), await record(client, installed.bin, script))

async function record(client: Client, bin: string, { replies, request, env = {}, signal }: Scene): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'ralph-record-'))
  const place = join(home, 'project')
  mkdirSync(place)
  const server = await startModelServer(replies, client)
  const clean = { PATH: pathWith(bin), HOME: home, TMPDIR: home, ...client.prepare(home, server.url), ...env }
  const { agent } = parseAgent(client.name)
  const asked: Request = {
    prompt: 'Please work.',
    mode: 'headless',
    permissions: 'bypass',
    sandbox: false,
    target: '',
    extraArgs: [],
    dir: place,
    folder: home,
    self: () => [],
    at: Date.now(),
    ...request,
  }
  const command = agent.command(asked)
  const parser = agent.parser(asked)
  const [program = '', ...args] = command.argv
  const child = spawn(program, args, { cwd: place, stdio: 'pipe', detached: true, env: { ...clean, ...command.env } })
  const closed = once(child, 'close')
  const lines: object[] = []
  for (const stream of ['out', 'err'] as const) {
    let text = ''
    child[stream === 'out' ? 'stdout' : 'stderr'].setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      const whole = text.split('\n')
      text = whole.pop() ?? ''
      for (const line of whole.filter(Boolean)) {
        lines.push({ [stream]: withoutInstructions(line) })
        const { write, done } = parser.push(line, stream)
        if (write !== undefined) child.stdin.write(write)
        if (done) child.stdin.end()
      }
    })
  }
  const endAll = () => carriers(`HOME=${home}`).forEach((pid) => void spawnSync('kill', ['-KILL', String(pid)]))
  let signals = 0
  const look = setInterval(() => {
    if (!signal || !existsSync(join(place, 'begun'))) return
    // Once, and to the whole group: a launcher in front of the client does not pass it on.
    if (signals++ === 0) signalGroup(child.pid, signal)
    else if (signals > 60) endAll() // some ignore it
  }, 50)
  child.stdin.write(command.stdin)
  if (!command.dialogue) child.stdin.end()
  const [code, ended] = await once(child, 'exit')
  clearInterval(look)
  endAll() // a tool may outlive its client and keep its pipes open
  await closed
  for (const path of parser.collect?.() ?? [])
    if (existsSync(path)) lines.push({ file: path, text: readFileSync(path, 'utf8') })
  await server.close()
  rmSync(home, { recursive: true, force: true })
  return [...lines, { exit: { code, signal: ended } }]
    .map((line) => `${neutral(JSON.stringify(line), home, server.url)}\n`)
    .filter((line, index, all) => line !== all[index - 1]) // the number of repetitions depends on the machine
    .join('')
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    process.kill(-(pid ?? 0), signal)
  } catch {
    // the group has ended
  }
}

function neutral(line: string, home: string, url: string): string {
  return line
    .replaceAll(home, '/home/somebody')
    .replaceAll(resolve('.clients'), '/opt')
    .replaceAll(resolve('.'), '/home/somebody/ralph')
    .replaceAll(url.replace('http://', ''), '127.0.0.1:1')
    .replace(/ralph-record-\w{6}/g, 'ralph-record')
    .replace(
      /[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g,
      '00000000-0000-$1000-8000-000000000000',
    )
    .replace(/_1\d{12}_/g, '_1700000000000_')
    .replace(/PGID: \d+/g, 'PGID: 1')
    .replace(/cc-socks\/\d+/g, 'cc-socks/1')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z/g, '2026-01-01T00:00:00.000Z')
    .replace(/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z/g, '2026-01-01T00-00-00-000Z')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d/g, '2026-01-01T00:00:00.000+00:00')
    .replace(/(\\"[A-Za-z_]*(?:_ms|Ms)\\": ?)[\d.]+/g, '$10')
    .replace(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, 'Thu, 01 Jan 2026 00:00:00 GMT')
    .replace(/\b([a-z]{3})_[0-9a-f]{12}\w{14}\b/g, '$1_0')
    .replace(/(\\"(?:elapsed|generation)\\":)[\d.]+/g, '$10')
    .replace(/\berr_[0-9a-f]{8}\b/g, 'err_0')
    .replace(/(retry wait time: )[\d.]+/g, '$10')
    .replace(/(\\"skills\\":)\[.*?\}\]/, '$1[]')
    .replace(/\b1[789]\d{11}\b/g, '1767225600000')
    .replace(/(\\"\w*[iI]d\\":\\")[0-9a-f]{8}\\"/g, '$100000000\\"')
}

function withoutInstructions(line: string): string {
  const event = [...INSTRUCTIONS].some((name) => line.includes(`"${name}"`)) ? parseJsonLine(line) : undefined
  return event ? JSON.stringify(event, (name, value) => (INSTRUCTIONS.has(name) ? undefined : value)) : line
}
