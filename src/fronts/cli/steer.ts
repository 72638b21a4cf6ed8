/** `ralph steer`: says something to a loop. */
import { steer as operation } from '../../operations/steer.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'
import { driveHere } from './drive-here.ts'
import { DRIVING, givenWords } from './loop-words.ts'

const spec: CommandSpec = {
  name: 'steer',
  words: 'LOOP "words for the next iteration" [options]',
  summary: 'Says something to a loop: its next iteration hears it. A loop that waits for your answer goes on, here.',
  options: DRIVING,
}

export const steer: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv)
    const [loop, words, ...more] = args.words
    if (loop === undefined || !words?.trim() || more.length > 0)
      throw usage(spec, 'Name a loop and give the words in quotes: ralph steer LOOP "use tabs".')
    const steered = await operation.run(context, { loop, words })
    if (steered.heard === 'nobody')
      return driveHere(context, steered.loop, { json: args.flag('json'), notify: args.flag('notify') })
    const told =
      steered.heard === 'later'
        ? `Told loop ${steered.loop}. ${steered.how}\n`
        : await givenWords(context, steered, 'Its next iteration hears it.')
    context.out.write(told)
    return 0
  },
}
