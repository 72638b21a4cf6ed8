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
  summary: 'Removes transcripts, checkpoints and state files of loops and tasks that ended more than 30 days ago.',
  about: 'ralph also does this whenever a loop starts. RALPH_KEEP_DAYS changes the number of days.',
  options: { days: { value: 'N', help: `keep the last N days (default: ${DEFAULTS.keepDays})` } },
}

export const prune: Command = {
  spec,
  async run(argv, context) {
    const days = parseArgs(spec, argv, 0).whole('days')
    const { transcripts, checkpoints, tasks } = await operation.run(context, given({ days }))
    const isEmpty = transcripts + checkpoints + tasks === 0
    context.out.write(
      isEmpty
        ? 'Nothing to remove.\n'
        : `Removed the transcripts of ${count(transcripts, 'iteration')}, ${count(checkpoints, 'checkpoint')}, and the state of ${count(tasks, 'vault task')}.\n`,
    )
    return 0
  },
}
