/** `ralph rollback`: puts the files of a loop back. */
import { rollback as operation } from '../../operations/rollback.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'

const spec: CommandSpec = {
  name: 'rollback',
  words: 'LOOP N',
  summary: 'Puts files, HEAD and index back to how they were after iteration N; 0 is the start.',
  about: `Ignored files stay as they are. What is there now is kept first, so \`ralph undo LOOP\` brings it back.
A loop that has not ended goes on from there with \`ralph resume\`. Submodules are left alone. After a rollback that
was killed, repeat it or undo it: either way one \`ralph undo\` brings back what was there before.`,
  options: {},
  examples: [['ralph rollback k3f 0', 'as if the loop had never run']],
}

export const rollback: Command = {
  spec,
  async run(argv, context) {
    const [loop, number, ...more] = parseArgs(spec, argv).words
    if (loop === undefined || number === undefined || more.length > 0)
      throw usage(spec, 'Name a loop and an iteration: ralph rollback LOOP 2.')
    if (!/^\d{1,9}$/.test(number)) throw usage(spec, `"${number}" is not the number of an iteration.`)
    const iteration = Number(number)
    const { loop: id, notes } = await operation.run(context, { loop, iteration })
    const state = iteration === 0 ? 'before the loop began' : `after iteration ${iteration}`
    context.out.write(
      `${[`The files are as they were ${state}. Take that back: ralph undo ${id}`, ...notes].join('\n')}\n`,
    )
    return 0
  },
}
