/** `ralph undo`: undoes a rollback. */
import { undo as operation } from '../../operations/undo.ts'
import { type CommandSpec, parseArgs } from './args.ts'
import type { Command } from './context.ts'
import { loopNamed } from './loop-words.ts'

const spec: CommandSpec = {
  name: 'undo',
  words: 'LOOP',
  summary: 'Undoes the last rollback of a loop, including one made by --on-halt.',
  options: {},
}

export const undo: Command = {
  spec,
  async run(argv, context) {
    const { notes } = await operation.run(context, { loop: loopNamed(parseArgs(spec, argv, 1)) })
    context.out.write(`${['The files are as they were before the rollback.', ...notes].join('\n')}\n`)
    return 0
  },
}
