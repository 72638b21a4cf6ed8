/** `ralph pause`. */
import { pause as operation } from '../../operations/pause.ts'
import { given } from '../../request/given.ts'
import { type CommandSpec, parseArgs } from './args.ts'
import type { Command } from './context.ts'
import { givenWords, LOOP_WORDS } from './loop-words.ts'

const spec: CommandSpec = {
  name: 'pause',
  words: '[LOOP]',
  summary: 'Pauses a loop after its current iteration. `ralph resume` continues it.',
  about: LOOP_WORDS,
  options: {},
}

export const pause: Command = {
  spec,
  async run(argv, context) {
    const [loop] = parseArgs(spec, argv, 1).words
    const all = await operation.run(context, given({ loop }))
    for (const given of all)
      context.out.write(await givenWords(context, given, 'will pause after its current iteration.'))
    return 0
  },
}
