/** `ralph prune`: removes old transcripts, checkpoints and state files. */
import { prune as operation } from '../../operations/prune.ts'
import { DEFAULTS } from '../../request/defaults.ts'
import { given } from '../../request/given.ts'
import { type CommandSpec, parseArgs } from './args.ts'
import type { Command } from './context.ts'
import { count } from './text.ts'

const spec: CommandSpec = {
  name: 'prune',
  words: '[options]',
  summary:
    'Removes the transcripts and checkpoints of loops, and the state files of tasks, that ended more than 30 days ago.',
  about: 'The same happens quietly whenever a loop is started. RALPH_KEEP_DAYS sets another number of days.',
  options: { days: { value: 'N', help: `keep those of the last N days (default ${DEFAULTS.keepDays})` } },
}

export const prune: Command = {
  spec,
  async run(argv, context) {
    const days = parseArgs(spec, argv, 0).whole('days')
    const { transcripts, checkpoints, tasks } = await operation.run(context, given({ days }))
    context.out.write(
      `Removed the transcripts of ${count(transcripts, 'iteration')} and ${count(checkpoints, 'checkpoint')}. Removed the state of ${count(tasks, 'task')} of vaults.\n`,
    )
    return 0
  },
}
