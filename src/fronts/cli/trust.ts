/** `ralph trust`: a person accepts configuration that a loop changed, or an agent defined in a repository. In a terminal, other commands ask. */
import { createInterface } from 'node:readline'
import { isRalphError, RalphError } from '../../error.ts'
import { trustConfig } from '../../operations/trust-config.ts'
import { given } from '../../request/given.ts'
import { type CommandSpec, parseArgs } from './args.ts'
import type { Command, Context } from './context.ts'
import { jsonLine } from './text.ts'

const spec: CommandSpec = {
  name: 'trust',
  words: '[DIR|FILE] [options]',
  summary: 'Accepts configuration that a loop changed, or an agent defined in a repository.',
  about: `ralph.config.json and the ralph: and agents: sections of config.yaml name programs that ralph runs. When a loop has changed or
deleted them, every command that would use them asks you first, or fails if there is no terminal. This command accepts the files as
they are now; the next change by a loop needs your consent again. Your own changes do not. Agents cannot accept changes.
FILE is a Pi agent in the repository, .pi/agents/NAME.md: \`--subagent\` uses it only after you have accepted it.`,
  options: { json: { help: 'print one JSON object' } },
}

export const trust: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 1)
    const { dir, paths } = await trustConfig.run(context, given({ dir: args.words[0] }))
    if (args.flag('json')) context.out.write(jsonLine({ type: 'trust', dir, paths }))
    else for (const line of wordsOf(dir, paths)) context.out.write(`${line}\n`)
    return 0
  },
}

function wordsOf(dir: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return [`Nothing to accept: no loop has changed the configuration in ${dir}.`]
  return paths.map((path) => `Accepted ${path}.`)
}

/** Runs a command. If a loop changed the configuration, asks the user and runs the command again. */
export async function withTrust(
  context: Context,
  argv: readonly string[],
  run: () => Promise<number>,
): Promise<number> {
  const { stdin, stdout } = context.machine
  for (;;) {
    try {
      return await run()
    } catch (cause) {
      if (!isRalphError(cause) || cause.code !== 'config-changed' || typeof cause.cause !== 'string') throw cause
      if (!stdin.isTTY || !stdout.isTTY || argv.includes('--json')) throw cause
      context.err.write(`ralph: ${cause.message}\n`)
      if (!(await confirmTrust(context))) throw new RalphError('declined', 'Nothing was started.')
      await trustConfig.run(context, { dir: cause.cause })
    }
  }
}

async function confirmTrust({ machine: { stdin, stdout } }: Context): Promise<boolean> {
  const lines = createInterface({ input: stdin, output: stdout })
  const answer = await new Promise<string>((answered) => {
    lines.once('close', () => answered(''))
    lines.question('Use it as it is now? [y/N] ', answered)
  })
  lines.close()
  return /^y(es)?$/i.test(answer.trim())
}
