/** The table of agents, and how `--agent name:target` names one. */
import { RalphError } from '../error.ts'
import { nearest } from '../formats/nearest.ts'
import { acp } from './acp.ts'
import type { Agent } from './agent.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { command } from './command.ts'
import { copilot } from './copilot.ts'
import { droid } from './droid.ts'
import { gemini } from './gemini.ts'
import { kilo, opencode } from './opencode.ts'
import { pi } from './pi.ts'
import { qwen } from './qwen.ts'
import { scripted } from './scripted.ts'

export const agents: Readonly<Record<string, Agent>> = {
  claude,
  codex,
  copilot,
  gemini,
  opencode,
  pi,
  qwen,
  droid,
  kilo,
  acp,
  command,
  scripted,
}

/**
 * `claude,codex` → both. A comma inside an agent's own command line does not separate: what follows it is not an
 * agent's name.
 */
export function parseAgents(text: string): string[] {
  const names = Object.keys(agents).join('|')
  if (!text.includes(':') && /\bauto\b/.test(text))
    throw new RalphError(
      'usage',
      '"auto" picks a single agent and cannot be combined with others. Name the agents you want instead.',
    )
  const comma = text.includes(':') ? new RegExp(`,(?=\\s*(?:${names})\\s*(?:[:,]|$))`) : ','
  const list = text.split(comma).map((one) => one.trim())
  for (const one of list) parseAgent(one)
  return [...new Set(list)]
}

/** `command:./my-agent --flag` → the command agent and its target. */
export function parseAgent(text: string): { agent: Agent; target: string } {
  const colon = text.indexOf(':')
  const name = colon < 0 ? text : text.slice(0, colon)
  const target = colon < 0 ? '' : text.slice(colon + 1).trim()
  const agent = Object.hasOwn(agents, name) ? agents[name] : undefined
  if (!agent) {
    const close = nearest(name, Object.keys(agents))
    throw new RalphError(
      'agent-unknown',
      `Unknown agent: "${name}".${close ? ` Did you mean "${close}"?` : ''} Known: ${Object.keys(agents).join(', ')}. Any other program can be used as command:"program with arguments".`,
    )
  }
  if (!target && agent.targetExample)
    throw new RalphError('usage', `The agent "${name}" needs a program to start: ${agent.targetExample}.`)
  return { agent, target }
}
