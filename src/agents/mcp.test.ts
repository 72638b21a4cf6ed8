import { expect, test } from 'vitest'
import type { Request } from './agent.ts'
import { request } from './conformance.test-support.ts'
import { agents, parseAgent } from './index.ts'

const mcp: NonNullable<Request['mcp']> = {
  file: (name) => `/home/somebody/${name}`,
  command: ['/bin/node', '/ralph/bin/ralph.cjs', 'mcp', '--loop'],
  env: { RALPH_HOME: '/home/somebody/.ralph', RALPH_MCP_TOKEN: 'secret-token' },
}
const SERVER = { command: '/bin/node', args: ['/ralph/bin/ralph.cjs', 'mcp', '--loop'], env: mcp.env }
const FILE = '/home/somebody/mcp.json'

type Wired = { args?: string[]; env?: object; file?: { path: string; holds: object } }

const WIRED: Readonly<Record<string, Wired>> = {
  claude: {
    args: [`--mcp-config=${FILE}`, '--allowedTools=mcp__ralph'],
    file: { path: FILE, holds: { mcpServers: { ralph: { ...SERVER, type: 'stdio', alwaysLoad: true } } } },
  },
  codex: {
    args: [
      '--config',
      'mcp_servers.ralph.command="/bin/node"',
      '--config',
      'mcp_servers.ralph.args=["/ralph/bin/ralph.cjs","mcp","--loop"]',
      '--config',
      'mcp_servers.ralph.env_vars=["RALPH_HOME","RALPH_MCP_TOKEN"]',
    ],
    env: mcp.env,
  },
  copilot: {
    args: ['--additional-mcp-config', `@${FILE}`, '--allow-tool=ralph'],
    file: { path: FILE, holds: { mcpServers: { ralph: { ...SERVER, type: 'local', tools: ['*'] } } } },
  },
  gemini: {
    env: { GEMINI_CLI_SYSTEM_DEFAULTS_PATH: '/home/somebody/gemini-defaults.json' },
    file: { path: '/home/somebody/gemini-defaults.json', holds: { mcpServers: { ralph: { ...SERVER, trust: true } } } },
  },
  qwen: {
    args: ['--mcp-config', FILE],
    file: { path: FILE, holds: { mcpServers: { ralph: { ...SERVER, trust: true, alwaysLoadTools: true } } } },
  },
  command: {
    env: { RALPH_MCP_CONFIG: FILE },
    file: { path: FILE, holds: { mcpServers: { ralph: { ...SERVER, type: 'stdio' } } } },
  },
}

test.each(Object.entries(WIRED))('%s gets an MCP server for one turn', (name, { args = [], env = {}, file }) => {
  const { agent } = parseAgent(name === 'command' ? 'command:./agent' : name)
  const command = agent.command({ ...request, target: name === 'command' ? './agent' : '', mcp })
  expect(command.argv.join(' ')).toContain(args.join(' '))
  expect(command.env).toEqual(env)
  expect(command.files?.map(({ path, text }) => ({ path, holds: JSON.parse(text) }))).toEqual(file && [file])
})

test.each(['opencode', 'kilo'])("%s gets it in the variable that may hold the user's settings", (name) => {
  const variable = `${name.toUpperCase()}_CONFIG_CONTENT`
  const own = { model: 'own', mcp: { mine: { type: 'local', command: ['mine'] } } }
  const given = (text?: string) => {
    const { env } = parseAgent(name).agent.command({ ...request, mcp: { ...mcp, variable: () => text } })
    return JSON.parse(env[variable] ?? '')
  }
  const ralph = { type: 'local', command: mcp.command, environment: mcp.env }
  expect(given()).toEqual({ mcp: { ralph } })
  expect(given(JSON.stringify(own))).toEqual({ model: 'own', mcp: { ...own.mcp, ralph } })
})

test('gemini keeps the defaults of the machine', () => {
  const theirs = '{ "ui": { "theme": "x" }, "mcpServers": { "mine": {} } } // a comment'
  const { files } = parseAgent('gemini').agent.command({ ...request, mcp: { ...mcp, machineFile: () => theirs } })
  expect(JSON.parse(files?.[0]?.text ?? '')).toMatchObject({
    ui: { theme: 'x' },
    mcpServers: { mine: {}, ralph: SERVER },
  })
})

test('acp names it when the session starts', () => {
  const parser = parseAgent('acp:agent').agent.parser({ ...request, mcp })
  const { write = '' } = parser.push('{"jsonrpc":"2.0","id":1,"result":{}}', 'out')
  expect(JSON.parse(write).params.mcpServers).toEqual([
    {
      name: 'ralph',
      command: SERVER.command,
      args: SERVER.args,
      env: [
        { name: 'RALPH_HOME', value: '/home/somebody/.ralph' },
        { name: 'RALPH_MCP_TOKEN', value: 'secret-token' },
      ],
    },
  ])
})

test('the token is in no command line, and without a server none is mentioned', () => {
  for (const agent of Object.values(agents)) {
    const target = agent.targetExample ? './agent' : ''
    expect(agent.command({ ...request, target, mcp }).argv.join(' ')).not.toContain('secret-token')
    const without = agent.command({ ...request, target })
    expect(without.files ?? []).toEqual([])
    expect(JSON.stringify(without)).not.toMatch(/mcp/i)
  }
})
