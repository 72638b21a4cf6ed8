/** `ralph fork`: a new loop that begins at a state of another one. */
import { fork as operation } from '../../operations/fork.ts'
import { given } from '../../request/given.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'
import { driveHere } from './drive-here.ts'
import { AGAIN, changesIn, DRIVING } from './loop-words.ts'

const spec: CommandSpec = {
  name: 'fork',
  words: 'LOOP [N] [options]',
  summary: 'Starts a new loop where another one was after iteration N, in a worktree of its own.',
  about: `Without N: after its last iteration; 0 is its start. The other loop and its files stay as they are, and \`ralph accept\` merges the
work of the new one. Its proof is measured strictly: against the tests that the first loop started with, and no check that the first
loop turned green counts for it.`,
  options: { prompt: { value: 'TEXT', help: 'another task than that of the first loop' }, ...AGAIN, ...DRIVING },
  examples: [['ralph fork k3f 2 --agent codex', 'what another agent makes of it from there']],
}

export const fork: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv)
    const [loop, number, ...more] = args.words
    if (loop === undefined || more.length > 0)
      throw usage(spec, 'Name a loop and, if you like, an iteration: ralph fork LOOP 2.')
    if (number !== undefined && !/^\d{1,9}$/.test(number))
      throw usage(spec, `"${number}" is not the number of an iteration.`)
    const iteration = number === undefined ? undefined : Number(number)
    const asked = given({ loop, iteration, prompt: args.text('prompt') })
    const { loop: id, why } = await operation.run(context, { ...asked, ...changesIn(args) })
    return driveHere(context, id, given({ json: args.flag('json'), notify: args.flag('notify'), why }))
  },
}
