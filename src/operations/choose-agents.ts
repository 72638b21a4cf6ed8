/** Chooses the agents of a new loop: are they installed, and do they support what is requested? */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Agent } from '../agents/agent.ts'
import { chooseAgent } from '../agents/choose.ts'
import { agents, parseAgent, parseAgents } from '../agents/index.ts'
import { RalphError } from '../error.ts'
import { parseCommandLine } from '../formats/command-line.ts'
import type { Config } from '../formats/config.ts'
import { parseScript } from '../formats/script.ts'
import { readText } from '../host/config.ts'
import { findAgent } from '../host/probe.ts'
import { findProgram } from '../host/process.ts'
import type { LoopRequest } from '../request/request.ts'
import type { Context } from './operation.ts'

type Site = Pick<Context, 'env' | 'cwd'> & { dir: string }

/** In order, with the reason if they were not named. Precedence: `asked`, environment, config, `auto`. */
export async function chooseAgents(
  context: Context,
  { dir, config, asked }: { dir: string; config: Config; asked?: string | undefined },
): Promise<{ agents: string[]; why?: string }> {
  const given = asked ?? (context.env.RALPH_AGENT || config.agent) ?? 'auto'
  const site = { env: context.env, cwd: context.cwd, dir }
  if (given.trim() !== 'auto') return { agents: parseAgents(given).map((agent) => locate(agent, site)) }
  const found = Object.values(agents).flatMap(({ name, probe }) => {
    const login = probe && findAgent(probe, { dir, env: context.env })?.login
    return login ? [{ name, login }] : []
  })
  const finished = new Map<string, number>()
  for (const { agent } of (await context.store().list({ dir, status: ['completed'], limit: 1_000 })).rows)
    finished.set(agent, (finished.get(agent) ?? 0) + 1)
  const chosen = chooseAgent(found, finished)
  if (chosen) return { agents: [chosen.name], why: `agent ${chosen.name}: ${chosen.why}` }
  throw noAgent(found.map(({ name }) => name))
}

function noAgent(idle: readonly string[]): RalphError {
  const programs = Object.values(agents).flatMap(({ probe }) => probe?.programs ?? [])
  return new RalphError(
    'agent-missing',
    idle.length > 0
      ? `${idle.join(', ')} ${idle.length === 1 ? 'is' : 'are'} installed but not logged in. Log in, or name an agent with --agent. \`ralph doctor\` shows more.`
      : `No agent found on PATH (${programs.join(', ')}). Install one, or use your own program: --agent command:"your-agent --its-flags".`,
  )
}

type Settings = Pick<LoopRequest, 'model' | 'permissions' | 'context' | 'mcp' | 'sandbox' | 'agentArgs' | 'limits'>

/** Unsupported settings are refused, not ignored. */
export function mustSuit(names: readonly string[], request: Settings): void {
  if (names.length > 1 && (request.model !== undefined || (request.agentArgs ?? []).length > 0))
    throw new RalphError('usage', 'A model and arguments after -- apply to a single agent, but several are named.')
  const trouble = request.mcp ? mcpTrouble(names, request) : undefined
  if (trouble) throw new RalphError('usage', `--mcp is not available: ${trouble}. Omit it.`)
  for (const name of names) mustKnow(parseAgent(name).agent, request)
}

/** Why these agents cannot get tools to report with. */
export function mcpTrouble(names: readonly string[], { sandbox }: Pick<Settings, 'sandbox'>): string | undefined {
  const unable = names.map((name) => parseAgent(name).agent).find(({ settings }) => !settings.includes('mcp'))
  if (unable) return `the agent "${unable.name}" does not support an MCP server for a single turn`
  // The reports are written by a program that the agent itself starts.
  return sandbox ? 'an agent in a sandbox cannot write its reports' : undefined
}

function mustKnow(agent: Agent, request: Settings): void {
  for (const setting of ['model', 'permissions', 'context'] as const)
    if (request[setting] !== undefined && !agent.settings.includes(setting))
      throw new RalphError(
        'usage',
        `The agent "${agent.name}" does not support --${setting}. Omit it, or put it into the agent's own command line.`,
      )
  for (const [limit, option, what] of COUNTED)
    if (request.limits?.[limit] !== undefined && !agent.reports.includes(what))
      throw new RalphError(
        'usage',
        `--${option} cannot be enforced: the agent "${agent.name}" does not report its ${what}.`,
      )
}

const COUNTED = [
  ['costUsd', 'max-cost', 'cost'],
  ['tokens', 'max-tokens', 'tokens'],
] as const

/** The agent with an absolute path, valid wherever the loop is resumed; throws if it is not installed. */
export function locate(text: string, { env, cwd, dir }: Site): string {
  const { agent, target } = parseAgent(text)
  if (agent.name === 'scripted') {
    const file = resolve(cwd, target)
    parseScript(readText(file, 'script'), file)
    return `scripted:${file}`
  }
  const program = agent.targetExample ? parseCommandLine(target)[0] : target || agent.probe?.programs[0]
  if (findProgram(program ?? '', dir, env.PATH)) return text
  if (program?.includes('/') && existsSync(resolve(dir, program)))
    throw new RalphError('agent-missing', `${resolve(dir, program)} is not executable. Run: chmod +x ${program}`)
  throw new RalphError(
    'agent-missing',
    `The agent "${program}" was not found${program?.includes('/') ? ` in ${dir}` : ' on PATH'}. Install it, or give its path. \`ralph doctor\` shows which agents are installed.`,
  )
}
