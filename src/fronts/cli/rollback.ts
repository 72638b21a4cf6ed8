/** `ralph rollback`: restores the files of a loop to an iteration. */
import { rollback as operation } from '../../operations/rollback.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'

const spec: CommandSpec = {
  name: 'rollback',
  words: 'LOOP N',
  summary: 'Restores files, HEAD and index to their state after iteration N; 0 is the state before the loop.',
  about: `Ignored files and submodules are left alone. The current state is saved first, so \`ralph undo LOOP\` brings it back.
A loop that has not ended continues from there with \`ralph resume\`. If a rollback is killed, repeat it or undo it: either way,
one \`ralph undo\` brings back the state before it.`,
  options: {},
  examples: [['ralph rollback k3f 0', 'as if the loop had never run']],
}

export const rollback: Command = {
  spec,
  async run(argv, context) {
    const [loop, number, ...more] = parseArgs(spec, argv).words
    if (loop === undefined || number === undefined || more.length > 0)
      throw usage(spec, 'Name a loop and an iteration: ralph rollback LOOP 2.')
    if (!/^\d{1,9}$/.test(number)) throw usage(spec, `Not an iteration number: "${number}".`)
    const iteration = Number(number)
    const { loop: id, notes } = await operation.run(context, { loop, iteration })
    const state = iteration === 0 ? 'before the loop started' : `after iteration ${iteration}`
    context.out.write(`${[`The files are as they were ${state}. Undo this: ralph undo ${id}`, ...notes].join('\n')}\n`)
    return 0
  },
}
