/** `ralph hook`: what an agent's own hook calls when it finds no other way to ralph. */
import { join } from 'node:path'
import { type CommandSpec, parseArgs } from './args.ts'
import type { Command } from './context.ts'

const spec: CommandSpec = {
  name: 'hook',
  words: 'stop|prompt|task [VAULT]',
  summary: "Answers an agent's own hook: its payload on stdin, the answer on stdout. `ralph install` sets that up.",
  options: {},
}

export const hook: Command = {
  spec,
  async run(argv, context) {
    parseArgs(spec, argv, 2)
    require(join(context.root, 'dist', 'hook.cjs')) // it reads, answers, and sets the exit code by itself
    return 0
  },
}
