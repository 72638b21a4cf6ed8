/** `ralph prune`: removes old transcripts, checkpoints and state files. The database keeps what became of every loop. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { dropCheckpoints } from '../../host/checkpoint.ts'
import { openRepository } from '../../host/git.ts'
import type { Store } from '../../host/store.ts'
import { forgetFiles } from '../../vault/changes.ts'
import { pruneTasks } from '../../vault/prune.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command, Context } from './context.ts'
import { count } from './text.ts'

const KEEP_DAYS = 30

const spec: CommandSpec = {
  name: 'prune',
  words: '[options]',
  summary:
    'Removes the transcripts and checkpoints of loops, and the state files of tasks, that ended more than 30 days ago.',
  about: 'The same happens quietly whenever a loop is started. RALPH_KEEP_DAYS sets another number of days.',
  options: { days: { value: 'N', help: `keep those of the last N days (default ${KEEP_DAYS})` } },
}

export const prune: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 0)
    const removed = await pruneOld(context, context.store(), undefined, args.whole('days'))
    context.out.write(
      `Removed the transcripts of ${count(removed.transcripts, 'iteration')} and ${count(removed.checkpoints, 'checkpoint')}. Removed the state of ${count(removed.tasks, 'task')} of vaults.\n`,
    )
    return 0
  },
}

/** `dir`: checkpoints go only in this folder's repository. Without it: in those of all loops. */
export async function pruneOld(
  { env, home, now }: Context,
  store: Store,
  dir?: string,
  days?: number,
): Promise<{ transcripts: number; checkpoints: number; tasks: number }> {
  const given = env.RALPH_KEEP_DAYS
  if (given && !/^\d{1,6}$/.test(given))
    throw usage(spec, `RALPH_KEEP_DAYS must be a whole number of days, but is "${given}".`)
  const keep = days ?? Number(given || KEEP_DAYS)
  const { rows: loops } = await store.list({ limit: 1_000_000 })
  const over = loops.filter(({ status }) => status === 'completed' || status === 'halted' || status === 'cancelled')
  const before = now() - keep * 86_400_000
  const old = over.filter(({ updatedAt }) => updatedAt < before)
  for (const { id } of old) {
    rmSync(join(home, 'index', id), { force: true })
    forgetFiles(home, id)
  }
  return {
    tasks: await pruneTasks(store, before),
    transcripts: await store.transcripts.prune(new Set(over.map(({ id }) => id)), before),
    checkpoints: await pruneCheckpoints(
      before,
      // What was not accepted yet lies in a work tree.
      new Set(old.map(({ id }) => id).filter((id) => !existsSync(join(home, 'worktrees', id)))),
      new Set(dir === undefined ? old.map((row) => row.dir) : old.length > 0 ? [dir] : []),
    ),
  }
}

async function pruneCheckpoints(
  before: number,
  loops: ReadonlySet<string>,
  dirs: ReadonlySet<string>,
): Promise<number> {
  let dropped = 0
  for (const dir of dirs) {
    const repo = await openRepository(dir)
    if (!('none' in repo)) dropped += await dropCheckpoints(repo, loops, before)
  }
  return dropped
}
