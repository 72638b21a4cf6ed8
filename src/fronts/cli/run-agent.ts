/** The agent of a new loop: is it here, and can it do what is asked of it? */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseAgent } from '../../agents/index.ts'
import type { Work } from '../../engine/loop.ts'
import { RalphError } from '../../error.ts'
import { parseCommandLine } from '../../formats/command-line.ts'
import { parseScript } from '../../formats/script.ts'
import { findProgram } from '../../host/process.ts'
import { type Args, usage } from './args.ts'
import { type Context, readText } from './context.ts'
import { runSpec } from './run-options.ts'

/** Only what this agent can be told; anything else is refused, not ignored. */
export function settingsOf(args: Args, name: string): Pick<Work, 'model' | 'permissions' | 'context'> {
  const { agent } = parseAgent(name)
  for (const setting of ['model', 'permissions', 'context'] as const)
    if (args.text(setting) !== undefined && !agent.settings.includes(setting))
      throw usage(
        runSpec,
        `--${setting} means nothing to the agent "${agent.name}". Leave it out, or put it into the agent's own command line.`,
      )
  for (const [option, what] of [
    ['max-cost', 'cost'],
    ['max-tokens', 'tokens'],
  ] as const)
    if (args.text(option) !== undefined && !agent.reports.includes(what))
      throw usage(runSpec, `--${option} cannot be kept: the agent "${agent.name}" does not report its ${what}.`)
  const model = args.text('model')
  return {
    permissions: oneOf(args, 'permissions', ['bypass', 'ask']),
    context: oneOf(args, 'context', ['fresh', 'same']),
    ...(model === undefined ? {} : { model }),
  }
}

/** The first is the default. */
export function oneOf<Choice extends string>(
  args: Args,
  name: string,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  const given = args.text(name) ?? choices[0]
  const found = choices.find((choice) => choice === given)
  if (found === undefined) throw usage(runSpec, `--${name} must be ${choices.join(' or ')}, but is "${given}".`)
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
  const program = agent.name === 'command' ? parseCommandLine(target)[0] : target || agent.probe?.programs[0]
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
