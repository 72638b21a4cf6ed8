/**
 * Records what a real client prints, for the tests of its parser: `node test/record.ts` writes src/agents/fixtures/claude/*.jsonl,
 * or only those that are named.
 * Paths, ids and times are made neutral, so that a new recording differs only where the client does.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { claudeEnvironment, installClient } from './clients.ts'
import { type Reply, startModelServer } from './model-server.ts'

const error = (status: number, type: string, message: string): Reply => ({ status, error: { type, message } })
const bash = (command: string): Reply => ({ tools: [{ name: 'Bash', input: { command, description: 'a step' } }] })
const DONE: Reply = { text: 'All done.\n\n<promise>COMPLETE</promise>' }
const BYPASS = ['--dangerously-skip-permissions']
const limit = {
  'anthropic-ratelimit-unified-status': 'rejected',
  'anthropic-ratelimit-unified-reset': '4102444800',
  'anthropic-ratelimit-unified-representative-claim': 'five_hour',
}

/** `interrupt`: it gets a SIGINT once it has printed this. */
type Scene = { replies: Reply[]; args?: string[]; env?: Record<string, string | undefined>; interrupt?: string }

const SCENES: Readonly<Record<string, Scene>> = {
  ok: { replies: [bash('echo hi > f.txt'), DONE] },
  'promise-in-tool': { replies: [bash('echo "<promise>COMPLETE</promise>"'), { text: 'I looked around.' }] },
  empty: { replies: [{ text: '' }] },
  denied: { replies: [bash('touch x.txt'), { text: 'I was not allowed to.' }], args: [] },
  auth: { replies: [error(401, 'authentication_error', 'invalid x-api-key')] },
  billing: {
    replies: [error(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.')],
  },
  model: { replies: [error(404, 'not_found_error', 'model: nope')] },
  limited: { replies: [error(429, 'rate_limit_error', 'slow down')] },
  'limited-with-reset': {
    replies: [{ ...error(429, 'rate_limit_error', 'limit'), headers: limit }],
    env: { ANTHROPIC_API_KEY: undefined, CLAUDE_CODE_OAUTH_TOKEN: 'dummy-token' },
  },
  overloaded: { replies: [error(529, 'overloaded_error', 'Overloaded')] },
  server: { replies: [error(500, 'api_error', 'Internal server error')] },
  context: { replies: [error(400, 'invalid_request_error', 'prompt is too long: 250000 tokens > 200000 maximum')] },
  'max-turns': { replies: [bash('echo 1'), bash('echo 2'), DONE], args: [...BYPASS, '--max-turns', '1'] },
  'no-session': { replies: [DONE], args: [...BYPASS, '--resume', '11111111-1111-4111-8111-111111111111'] },
  'bad-flag': { replies: [DONE], args: [...BYPASS, '--no-such-flag'] },
  'max-budget': { replies: [bash('echo 1'), bash('echo 2'), DONE], args: [...BYPASS, '--max-budget-usd', '0.001'] },
  'max-tokens': { replies: [{ text: 'Much to say', stopReason: 'max_tokens' }] },
  refusal: { replies: [{ text: 'I cannot.', stopReason: 'refusal' }] },
  'no-connection': { replies: [], env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' } },
  hang: { replies: [{ hang: true }], env: { API_TIMEOUT_MS: '2000' } },
  cut: { replies: [{ cut: true }, DONE], env: { CLAUDE_CODE_MAX_RETRIES: '1' } },
  'several-results': {
    replies: [
      {
        tools: [
          { name: 'Bash', input: { command: 'sleep 1; echo over', description: 'a step', run_in_background: true } },
        ],
      },
      { text: 'It goes on in the background.' },
      DONE,
    ],
  },
  interrupted: { replies: [bash('while :; do sleep 1; done'), DONE], interrupt: '"tool_use"' },
  root: { replies: [DONE], env: { IS_SANDBOX: undefined } },
}

const client = installClient('claude')
if ('missing' in client) throw new Error(client.missing)
const folder = resolve('src/agents/fixtures/claude')
mkdirSync(folder, { recursive: true })
const wanted = process.argv.slice(2)
for (const [name, scene] of Object.entries(SCENES))
  if (wanted.length === 0 || wanted.includes(name))
    writeFileSync(join(folder, `${name}.jsonl`), await record(client.program, scene))

async function record(program: string, { replies, args = BYPASS, env = {}, interrupt }: Scene): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'ralph-record-'))
  const server = await startModelServer(replies)
  const child = spawn(program, ['--print', '--output-format', 'stream-json', '--verbose', ...args], {
    cwd: home,
    stdio: 'pipe',
    env: { PATH: process.env.PATH, HOME: home, ...claudeEnvironment(home, server.url), ...env },
  })
  const lines: object[] = []
  for (const stream of ['out', 'err'] as const) {
    let text = ''
    child[stream === 'out' ? 'stdout' : 'stderr'].setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      if (interrupt && text.includes(interrupt)) child.kill('SIGINT')
      const whole = text.split('\n')
      text = whole.pop() ?? ''
      lines.push(...whole.filter(Boolean).map((line) => ({ [stream]: line })))
    })
  }
  child.stdin.end('Please work.')
  const [code, signal] = await once(child, 'close')
  await server.close()
  rmSync(home, { recursive: true, force: true })
  return [...lines, { exit: { code, signal } }]
    .map((line) => `${neutral(JSON.stringify(line), home, server.url)}\n`)
    .join('')
}

function neutral(line: string, home: string, url: string): string {
  return line
    .replaceAll(home, '/home/somebody/project')
    .replaceAll(url.replace('http://', ''), '127.0.0.1:1')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '00000000-0000-4000-8000-000000000000')
    .replace(/ralph-record-\w{6}/g, 'ralph-record')
    .replace(/cc-socks\/\d+/g, 'cc-socks/1')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-01-01T00:00:00.000Z')
    .replace(/(\\"[a-z_]*(?:_ms|Ms)\\":)\d+/g, '$10')
}
