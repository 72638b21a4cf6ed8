/** `ralph prune`: removes old transcripts. The database keeps what became of every loop. */
import type { LocalStore } from '../../host/sqlite.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command, Context } from './context.ts'
import { count } from './text.ts'

const KEEP_DAYS = 30

const spec: CommandSpec = {
  name: 'prune',
  words: '[options]',
  summary: 'Removes the transcripts of loops that ended more than 30 days ago.',
  about: 'The same happens quietly whenever a loop is started. RALPH_KEEP_DAYS sets another number of days.',
  options: { days: { value: 'N', help: `keep those of the last N days (default ${KEEP_DAYS})` } },
}

export const prune: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 0)
    const removed = await pruneTranscripts(context, context.store(), args.whole('days'))
    context.out.write(`Removed the transcripts of ${count(removed, 'iteration')}.\n`)
    return 0
  },
}

export async function pruneTranscripts({ env, now }: Context, store: LocalStore, days?: number): Promise<number> {
  const given = env.RALPH_KEEP_DAYS
  if (given && !/^\d{1,6}$/.test(given))
    throw usage(spec, `RALPH_KEEP_DAYS must be a whole number of days, but is "${given}".`)
  const keep = days ?? Number(given || KEEP_DAYS)
  const loops = await store.list({ limit: 1_000_000 })
  const over = loops.filter(({ status }) => status === 'completed' || status === 'halted' || status === 'cancelled')
  return store.transcripts.prune(new Set(over.map(({ id }) => id)), now() - keep * 86_400_000)
}
