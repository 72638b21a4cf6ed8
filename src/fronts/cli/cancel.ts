/** `ralph cancel`. */
import { cancel as operation } from '../../operations/cancel.ts'
import { given } from '../../request/given.ts'
import { type CommandSpec, parseArgs } from './args.ts'
import type { Command } from './context.ts'
import { givenWords, LOOP_WORDS } from './loop-words.ts'

const spec: CommandSpec = {
  name: 'cancel',
  words: '[LOOP]',
  summary: 'Cancels a loop for good and kills its agent at once.',
  about: LOOP_WORDS,
  options: {},
}

export const cancel: Command = {
  spec,
  async run(argv, context) {
    const [loop] = parseArgs(spec, argv, 1).words
    const all = await operation.run(context, given({ loop }))
    for (const told of all) context.out.write(await givenWords(context, told, 'stops now.'))
    return 0
  },
}
