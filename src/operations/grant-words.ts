/** Hints about permissions that an agent lacks: which setting grants them. */
import type { Agent } from '../agents/agent.ts'
import { parseAgent } from '../agents/index.ts'
import type { HaltReason, Loop } from '../engine/loop.ts'

/** No message to the agent can grant what it was denied. */
export function grantHint({ id, spec }: Loop): string {
  const { bypass, grants } = agentOf(spec.work.agent) ?? {}
  const asks = spec.work.permissions === 'ask'
  return [
    where(id, grants, asks),
    ...(asks && bypass !== undefined ? ['to allow everything, start it with --permissions bypass'] : []),
    `to continue without it: ralph steer ${id} "…"`,
  ].join(' · ')
}

function where(id: string, grants: Agent['grants'], asks: boolean): string {
  if (!grants) return `Allow it in the agent's settings, then: ralph resume ${id}`
  if ('argument' in grants) return `Allow it: start it with -- ${grants.argument}`
  const lead = asks ? 'Allow it with' : "The agent's own settings deny it. Change"
  return `${lead} ${grants.setting}, then: ralph resume ${id}`
}

/** Explains why an agent without editing tools changed nothing. Empty: not the reason. */
export function hiddenTools({ spec }: Loop, reason: HaltReason): string {
  const note = reason === 'no-progress' ? askNote(spec.work.agent, spec.work.permissions) : undefined
  return note === undefined ? '' : ` ${note}`
}

/** What `--permissions ask` means for an agent that hides tools in that mode. */
export function askNote(name: string, permissions: 'ask' | 'bypass'): string | undefined {
  const agent = permissions === 'ask' ? agentOf(name) : undefined
  if (!agent?.hidesTools || !agent.grants) return undefined
  const allow = 'setting' in agent.grants ? agent.grants.setting : `-- ${agent.grants.argument}`
  return `With --permissions ask, ${agent.name} hides tools that need approval, such as the shell, from its model. Allow them with ${allow}, or use --permissions bypass.`
}

/** Undefined for unknown names, such as that of a task whose caller does the work. */
function agentOf(name: string): Agent | undefined {
  try {
    return parseAgent(name).agent
  } catch {
    return undefined
  }
}
