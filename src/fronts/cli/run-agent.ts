/** The agent of a new loop or interview: is it here, and can it do what is asked of it? */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Agent } from '../../agents/agent.ts'
import { chooseAgent } from '../../agents/choose.ts'
import { agents, parseAgent, parseAgents } from '../../agents/index.ts'
import type { Work } from '../../engine/loop.ts'
import { RalphError } from '../../error.ts'
import { parseCommandLine } from '../../formats/command-line.ts'
import { parseScript } from '../../formats/script.ts'
import { readText } from '../../host/config.ts'
import { findAgent } from '../../host/probe.ts'
import { findProgram } from '../../host/process.ts'
import { type Args, usage } from './args.ts'
import type { Context } from './context.ts'
import type { Given } from './run-limits.ts'

/** The agents of a new loop in their order, and why, where nobody named them. */
export async function chooseAgents(
  args: Args,
  { context, config, dir }: Given,
): Promise<{ agents: string[]; why?: string }> {
  const given = args.text('agent') ?? (context.env.RALPH_AGENT || config.agent) ?? 'auto'
  if (given.trim() !== 'auto') return { agents: parseAgents(given).map((agent) => locate(agent, { context, dir })) }
  const found = Object.values(agents).flatMap(({ name, probe }) => {
    const login = probe && findAgent(probe, { dir, env: context.env })?.login
    return login ? [{ name, login }] : []
  })
  const finished = new Map<string, number>()
  for (const { agent, status } of (await context.store().list({ dir, limit: 1_000 })).rows)
    if (status === 'completed') finished.set(agent, (finished.get(agent) ?? 0) + 1)
  const chosen = chooseAgent(found, finished)
  if (chosen) return { agents: [chosen.name], why: `agent ${chosen.name}: ${chosen.why}` }
  const idle = found.map(({ name }) => name)
  throw new RalphError(
    'agent-missing',
    idle.length > 0
      ? `${idle.join(', ')} ${idle.length === 1 ? 'is' : 'are'} here, but nobody is logged in. Log in, or name an agent with --agent. \`ralph doctor\` tells more.`
      : `No agent was found on PATH (${Object.values(agents)
          .flatMap(({ probe }) => probe?.programs ?? [])
          .join(', ')}). Install one, or name a program of your own: --agent command:"your-agent --its-flags".`,
  )
}

/** Only what this agent can be told; anything else is refused, not ignored. */
export function settingsOf(args: Args, names: readonly string[]): Pick<Work, 'model' | 'permissions' | 'context'> {
  if (names.length > 1 && (args.text('model') !== undefined || args.rest.length > 0))
    throw usage(args.spec, 'A model and arguments behind -- belong to one agent, but several are named.')
  for (const name of names) mustKnow(args, parseAgent(name).agent)
  const model = args.text('model')
  return {
    permissions: oneOf(args, 'permissions', ['bypass', 'ask']),
    context: oneOf(args, 'context', ['fresh', 'same']),
    ...(model === undefined ? {} : { model }),
  }
}

function mustKnow(args: Args, agent: Agent): void {
  for (const setting of ['model', 'permissions', 'context'] as const)
    if (args.text(setting) !== undefined && !agent.settings.includes(setting))
      throw usage(
        args.spec,
        `--${setting} means nothing to the agent "${agent.name}". Leave it out, or put it into the agent's own command line.`,
      )
  for (const [option, what] of [
    ['max-cost', 'cost'],
    ['max-tokens', 'tokens'],
  ] as const)
    if (args.text(option) !== undefined && !agent.reports.includes(what))
      throw usage(args.spec, `--${option} cannot be kept: the agent "${agent.name}" does not report its ${what}.`)
}

/** The first is the default. */
export function oneOf<Choice extends string>(
  args: Args,
  name: string,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  const given = args.text(name) ?? choices[0]
  const found = choices.find((choice) => choice === given)
  if (found === undefined) throw usage(args.spec, `--${name} must be ${choices.join(' or ')}, but is "${given}".`)
  return found
}

/** The agent with its file as a path that holds wherever the loop is resumed; an agent that is not there is said at once. */
export function locate(text: string, { context, dir }: { context: Context; dir: string }): string {
  const { agent, target } = parseAgent(text)
  if (agent.name === 'scripted') {
    const file = resolve(context.cwd, target)
    parseScript(readText(file, 'script'), file)
    return `scripted:${file}`
  }
  const program = agent.targetExample ? parseCommandLine(target)[0] : target || agent.probe?.programs[0]
  if (findProgram(program ?? '', dir, context.env.PATH)) return text
  if (program?.includes('/') && existsSync(resolve(dir, program)))
    throw new RalphError(
      'agent-missing',
      `${resolve(dir, program)} is not a program that can be run. Make it one: chmod +x ${program}`,
    )
  throw new RalphError(
    'agent-missing',
    `The agent "${program}" was not found${program?.includes('/') ? ` below ${dir}` : ' on PATH'}. Install it, or name its path. \`ralph doctor\` tells which agents are here.`,
  )
}
