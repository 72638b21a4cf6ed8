/** `ralph retry`: starts a loop that stopped short once more. */
import { retry as operation } from '../../operations/retry.ts'
import { given } from '../../request/given.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'
import { driveHere } from './drive-here.ts'
import { AGAIN, changesIn, DRIVING, loopNamed } from './loop-words.ts'
import { jsonLine } from './text.ts'

const spec: CommandSpec = {
  name: 'retry',
  words: 'LOOP ["words for the first iteration"] [options]',
  summary: 'Restarts a loop that halted or was cancelled: a new loop with the same task, from the present files.',
  about: `What the first loop left is where the new one begins: in the same folder, or in a worktree of its own. Limits count from
zero again. A loop that has not ended goes on with \`ralph resume\`.`,
  options: { ...AGAIN, ...DRIVING },
  examples: [['ralph retry k3f "Leave the parser alone." --max-iterations 5', 'with a word of advice']],
}

export const retry: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv)
    const loop = loopNamed(args)
    const [, words, ...more] = args.words
    if (more.length > 0 || words?.trim() === '')
      throw usage(spec, 'Give the words in quotes: ralph retry LOOP "use tabs".')
    const { loop: id, why, queued } = await operation.run(context, { ...given({ loop, words }), ...changesIn(args) })
    if (queued) {
      const words = `The next free worker continues it, as loop ${id}. Follow it: ralph show ${id} --follow\n`
      context.out.write(args.flag('json') ? jsonLine({ type: 'retried', loop: id, queued }) : words)
      return 0
    }
    return driveHere(context, id, given({ json: args.flag('json'), notify: args.flag('notify'), why }))
  },
}
