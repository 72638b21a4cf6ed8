/**
 * An agent that says nothing and reports through MCP: it makes the calls in `calls.json`, one list per turn, and keeps
 * the answers.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

/** `write` creates a file. `config`: of another turn, as `keep` saved it. */
export type Call =
  | { tool: string; input?: Record<string, unknown>; config?: string }
  | { write: string }
  | { keep: string }
  | { list: true }

const turn = Number(process.env.RALPH_ITERATION) - 1
const calls = (JSON.parse(readFileSync('../calls.json', 'utf8')) as Call[][])[turn] ?? []
const answers: unknown[] = existsSync('../answers.json') ? JSON.parse(readFileSync('../answers.json', 'utf8')) : []
const own = process.env.RALPH_MCP_CONFIG ?? ''

for (const call of calls) {
  if ('write' in call) writeFileSync(call.write, 'done\n')
  else if ('keep' in call) writeFileSync(call.keep, readFileSync(own))
  else answers.push(await ask(call))
}
writeFileSync('../answers.json', JSON.stringify(answers))
console.log('I have reported.')

async function ask(call: Exclude<Call, { write: string } | { keep: string }>): Promise<unknown> {
  const config = 'config' in call && call.config ? call.config : own
  const { command, args, env } = JSON.parse(readFileSync(config, 'utf8')).mcpServers.ralph
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ command, args, env, stderr: 'inherit' }))
  try {
    if ('list' in call) return (await client.listTools()).tools.map(({ name }) => name)
    const { content, isError } = await client.callTool({ name: call.tool, arguments: call.input ?? {} })
    const [first] = content
    return { isError: isError === true, ...JSON.parse(first?.type === 'text' ? first.text : '{}') }
  } finally {
    await client.close()
  }
}
