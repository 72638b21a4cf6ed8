/** `ralph retry`: starts a new loop with the task of one that halted or was cancelled. */
import { retry as operation } from '../../operations/retry.ts'
import { given } from '../../request/given.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'
import { driveHere } from './drive-here.ts'
import { AGAIN, changesIn, DRIVING, loopNamed } from './loop-words.ts'
import { jsonLine } from './text.ts'

const spec: CommandSpec = {
  name: 'retry',
  words: 'LOOP ["message"] [options]',
  summary: 'Retries a loop that halted or was cancelled: starts a new loop with the same task on the current files.',
  about: `The new loop starts where the first one stopped, in the same folder or in its own worktree, and its first iteration gets the
message. Limits count from zero again. If a loop has not ended, use \`ralph resume\` instead.`,
  options: { ...AGAIN, ...DRIVING },
  examples: [['ralph retry k3f "Leave the parser alone." --max-iterations 5', 'with a hint for the agent']],
}

export const retry: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv)
    const loop = loopNamed(args)
    const [, words, ...more] = args.words
    if (more.length > 0 || words?.trim() === '')
      throw usage(spec, 'Put the message in quotes: ralph retry LOOP "use tabs".')
    const { loop: id, why, queued } = await operation.run(context, { ...given({ loop, words }), ...changesIn(args) })
    if (queued) {
      const words = `Queued as loop ${id} for the next free worker. Follow it: ralph show ${id} --follow\n`
      context.out.write(args.flag('json') ? jsonLine({ type: 'retried', loop: id, queued }) : words)
      return 0
    }
    return driveHere(context, id, given({ json: args.flag('json'), notify: args.flag('notify'), why }))
  },
}
