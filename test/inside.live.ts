/**
 * Real clients inside a loop: each gets ralph's MCP server for its turn, and reports through it, against a scripted
 * model.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { claude } from './clients/claude.ts'
import { codex } from './clients/codex.ts'
import { copilot } from './clients/copilot.ts'
import { gemini } from './clients/gemini.ts'
import { kilo, opencode } from './clients/opencode.ts'
import { qwen } from './clients/qwen.ts'
import { type Client, installClient, pathWith } from './clients.ts'
import { type ModelServer, type Reply, startModelServer } from './model-server.ts'
import { makePlace, type Place, query } from './ralph.ts'

let server: ModelServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

/** Works where it may, reports done with the tool under its client's name for it, and does not mention it. */
function reporting(client: Client, works: boolean): (body: unknown, number: number) => Reply {
  const first = works ? 1 : 0
  return (body, number) => {
    if (number < first) return { tools: [client.bash('echo done > done.txt')] }
    if (number > first) return { text: 'I have reported.' }
    const [, name] = /"([\w.-]*report_stage)"/.exec(JSON.stringify(body)) ?? []
    // Codex has its model search for tools, but knows this one anyway.
    const tool = name === undefined ? { name: 'report_stage', namespace: 'mcp__ralph' } : { name }
    return { tools: [{ ...tool, input: { evidence: 'done.txt is there.' } }] }
  }
}

/** Gemini reads no settings below a folder that others can write, such as the temporary folder. */
function safeHome(client: Client, { home }: Place): string | undefined {
  if (client !== gemini || isSafe(dirname(home))) return home
  const folder = mkdtempSync(resolve('.clients', '.home-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return isSafe(folder) ? folder : undefined
}

function isSafe(path: string): boolean {
  if ((statSync(path).mode & 0o022) !== 0) return false
  return path === dirname(path) || isSafe(dirname(path))
}

describe.each([claude, opencode, codex, copilot, gemini, qwen, kilo])('$name', (client) => {
  let bin: string | undefined
  beforeAll(() => {
    const installed = installClient(client)
    if ('bin' in installed) bin = installed.bin
    else console.log(`skipped: ${client.name}: ${installed.missing}`)
  }, 320_000)

  test.for(['bypass', 'ask'])('reports done, with permissions %s', async (permissions, { skip }) => {
    const place = makePlace()
    const home = safeHome(client, place)
    const works = permissions === 'bypass'
    skip(bin === undefined, `${client.name} cannot be installed here`)
    if (home === undefined) return skip("others can write to this folder's parent")
    server = await startModelServer(reporting(client, works), client)
    const ran = await place.ralph(
      [
        ...['run', 'Write the file.', '--agent', client.agent ?? client.name, '--mcp', '--json'],
        ...['--verify', 'test -f done.txt', '--max-iterations', '1', '--permissions', permissions],
      ],
      { env: { PATH: pathWith(bin ?? ''), ...client.prepare(join(place.root, 'home'), server.url), RALPH_HOME: home } },
    )
    const reports = query({ ...place, home }, 'SELECT report FROM report').map(({ report }) =>
      JSON.parse(String(report)),
    )
    expect(reports).toMatchObject([{ kind: 'stage', evidence: 'done.txt is there.' }])
    if (works) expect(ran).toMatchObject({ code: 0, end: { proof: 'verified', iterations: 1 } })
  })
})
