/** `ralph hook`: fallback for an agent's hook that cannot reach ralph another way. */
import { join } from 'node:path'
import { type CommandSpec, parseArgs } from './args.ts'
import type { Command } from './context.ts'

const spec: CommandSpec = {
  name: 'hook',
  words: 'stop|prompt|task [VAULT]',
  summary: "Handles an agent's hook: payload on stdin, answer on stdout. Set up by `ralph install`.",
  options: {},
}

export const hook: Command = {
  spec,
  async run(argv, context) {
    parseArgs(spec, argv, 2)
    require(join(context.root, 'dist', 'hook.cjs')) // it reads stdin, answers, and sets the exit code itself
    return 0
  },
}
