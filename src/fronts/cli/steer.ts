/** `ralph steer`: sends a message to a loop. */
import { steer as operation } from '../../operations/steer.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'
import { driveHere } from './drive-here.ts'
import { DRIVING, givenWords } from './loop-words.ts'

const spec: CommandSpec = {
  name: 'steer',
  words: 'LOOP "message" [options]',
  summary:
    'Sends a message to a loop for its next iteration. A loop that is waiting for your answer continues in this terminal.',
  options: DRIVING,
}

export const steer: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv)
    const [loop, words, ...more] = args.words
    if (loop === undefined || !words?.trim() || more.length > 0)
      throw usage(spec, 'Name a loop and put the message in quotes: ralph steer LOOP "use tabs".')
    const steered = await operation.run(context, { loop, words })
    if (steered.heard === 'nobody')
      return driveHere(context, steered.loop, { json: args.flag('json'), notify: args.flag('notify') })
    const text =
      steered.heard === 'later'
        ? `Loop ${steered.loop}: ${steered.how}\n`
        : await givenWords(context, steered, 'will get the message in its next iteration.')
    context.out.write(text)
    return 0
  },
}
