/** How each agent finds ralph's MCP server: where its settings are, and what they must contain. */
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import type { Entry } from '../formats/json-text.ts'
import { launcher, type Scope, type Site, type Wanted } from './pieces.ts'

/** The server's command line and required environment. */
export type McpServer = { argv: readonly string[]; env: Readonly<Record<string, string>> }

/** `path` is undefined if an agent has no such settings per folder. */
type Settings = {
  path(site: Pick<Site, 'scope' | 'person' | 'project' | 'env' | 'read'>, folder: string): string | undefined
} & ({ entry(server: McpServer): Entry } | { lines(server: McpServer): string[] })

const TABLE = 'mcp_servers.ralph'

const plain = ({ argv: [command, ...args], env }: McpServer) => ({ command, args, ...withEnv('env', env) })
const servers = (item: unknown): Entry => ({ at: ['mcpServers'], key: 'ralph', item })

const SETTINGS: Readonly<Record<string, Settings>> = {
  claude: {
    path: ({ scope, person, project, env }) =>
      scope === 'project' ? join(project, '.mcp.json') : join(env.CLAUDE_CONFIG_DIR || person, '.claude.json'),
    entry: (server) => servers({ type: 'stdio', ...plain(server) }),
  },
  codex: {
    path: (_, folder) => join(folder, 'config.toml'),
    // TOML writes these strings and lists as JSON does.
    lines: ({ argv: [command, ...args], env }) => [
      `[${TABLE}]`,
      `command = ${JSON.stringify(command)}`,
      `args = ${JSON.stringify(args)}`,
      ...Object.entries(env).map(([name, value]) => `env = { ${name} = ${JSON.stringify(value)} }`),
    ],
  },
  gemini: { path: (_, folder) => join(folder, 'settings.json'), entry: (server) => servers(plain(server)) },
  opencode: {
    path: ({ read }, folder) => {
      const commented = join(folder, 'opencode.jsonc')
      return read(commented) === undefined ? join(folder, 'opencode.json') : commented
    },
    entry: ({ argv, env }) => ({
      at: ['mcp'],
      key: 'ralph',
      item: { type: 'local', command: [...argv], ...withEnv('environment', env) },
    }),
  },
  copilot: {
    path: ({ scope }, folder) => (scope === 'project' ? undefined : join(folder, 'mcp-config.json')),
    entry: (server) => servers({ type: 'local', ...plain(server), tools: ['*'] }),
  },
  qwen: { path: (_, folder) => join(folder, 'settings.json'), entry: (server) => servers(plain(server)) },
  droid: {
    path: (_, folder) => join(folder, 'mcp.json'),
    entry: (server) => servers({ type: 'stdio', ...plain(server) }),
  },
  cursor: { path: (_, folder) => join(folder, 'mcp.json'), entry: (server) => servers(plain(server)) },
}

/** Agents that support an MCP server. */
export const MCP_AGENTS: readonly string[] = Object.keys(SETTINGS)

/** Through the links in ralph's home, so that it stays valid when ralph or Node are replaced. */
function linkedServer({ home, person }: Pick<Site, 'home' | 'person'>): McpServer {
  return { argv: [join(home, 'node'), launcher(home), 'mcp'], env: envFor(home, person) }
}

/** A home other than the default must be named. */
export function envFor(home: string, person: string): Record<string, string> {
  return home === join(person, '.ralph') ? {} : { RALPH_HOME: home }
}

/** What an installation writes for it. */
export function mcpWanted(agent: string, site: Site, folder: string): Wanted {
  const { path, settings } = settingsOf(agent, site, folder)
  const server = linkedServer(site)
  if ('entry' in settings) return { kind: 'settings', path, entries: [settings.entry(server)] }
  return { kind: 'table', path, name: TABLE, lines: settings.lines(server) }
}

/** The same for users who write it themselves: the file and what it must contain. */
export function printMcp(agent: string, { site, folder, server }: Printing): { path: string; text: string } {
  const { path, settings } = settingsOf(agent, site, folder)
  if ('lines' in settings) return { path, text: settings.lines(server).join('\n') }
  const { at, key = '', item } = settings.entry(server)
  const whole = at.reduceRight<unknown>((inner, name) => ({ [name]: inner }), { [key]: item })
  return { path, text: JSON.stringify(whole, undefined, 2) }
}

export type Printing = { site: Site; folder: string; server: McpServer }

function settingsOf(agent: string, site: Site, folder: string): { path: string; settings: Settings } {
  const settings = Object.hasOwn(SETTINGS, agent) ? SETTINGS[agent] : undefined
  if (!settings)
    throw new RalphError('usage', `${agent} does not support MCP servers. These do: ${MCP_AGENTS.join(', ')}.`)
  const path = settings.path(site, folder)
  if (path !== undefined) return { path, settings }
  throw new RalphError('usage', `${agent} does not support MCP servers for ${SCOPES[site.scope]}. Omit --project.`)
}

const SCOPES: Readonly<Record<Scope, string>> = { user: 'a user', project: 'a single folder', vault: 'a vault' }

function withEnv(name: string, env: Readonly<Record<string, string>>): object {
  return Object.keys(env).length === 0 ? {} : { [name]: env }
}
