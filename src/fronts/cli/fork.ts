/** `ralph fork`: a new loop that starts from an iteration of another one. */
import { fork as operation } from '../../operations/fork.ts'
import { given } from '../../request/given.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'
import { driveHere } from './drive-here.ts'
import { AGAIN, changesIn, DRIVING } from './loop-words.ts'

const spec: CommandSpec = {
  name: 'fork',
  words: 'LOOP [N] [options]',
  summary: 'Starts a new loop from the state of another one after iteration N, in its own worktree.',
  about: `N defaults to the last iteration; 0 is the state before the first. The first loop and its files stay unchanged, and
\`ralph accept\` merges the work of the new one. The new loop is measured against the tests the first loop started with; a
check that passes because of the first loop's work does not count as its own.`,
  options: { prompt: { value: 'TEXT', help: 'give the new loop a different task' }, ...AGAIN, ...DRIVING },
  examples: [['ralph fork k3f 2 --agent codex', 'let another agent continue from iteration 2']],
}

export const fork: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv)
    const [loop, number, ...more] = args.words
    if (loop === undefined || more.length > 0)
      throw usage(spec, 'Name a loop and, optionally, an iteration: ralph fork LOOP 2.')
    if (number !== undefined && !/^\d{1,9}$/.test(number)) throw usage(spec, `Not an iteration number: "${number}".`)
    const iteration = number === undefined ? undefined : Number(number)
    const asked = given({ loop, iteration, prompt: args.text('prompt') })
    const { loop: id, why } = await operation.run(context, { ...asked, ...changesIn(args) })
    return driveHere(context, id, given({ json: args.flag('json'), notify: args.flag('notify'), why }))
  },
}
