/** Removes old transcripts, checkpoints and state files. The database keeps the outcome of every loop. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { removeLeftPlaces } from '../drive/left-places.ts'
import { OVER } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { dropCheckpoints } from '../host/checkpoint.ts'
import { openRepository } from '../host/git.ts'
import { dropSecrets } from '../host/keep-secret.ts'
import { forgetPins } from '../host/pin.ts'
import type { Store } from '../host/store.ts'
import { DEFAULTS } from '../request/defaults.ts'
import { given } from '../request/given.ts'
import { forgetFiles } from '../vault/changes.ts'
import { pruneTasks } from '../vault/prune.ts'
import type { Context, Operation } from './operation.ts'

export type Pruned = { transcripts: number; checkpoints: number; tasks: number }

export const prune: Operation<{ days?: number }, Pruned> = {
  name: 'prune',
  effect: 'destroy',
  summary: 'Removes transcripts, checkpoints and state files of loops that ended more than a given number of days ago.',
  run: (context, { days }) => pruneOld(context, given({ days })),
}

/** A client of the board that was offline for less than this misses nothing. */
const READ_ON_MS = 86_400_000

/** `dir`: removes checkpoints only from this folder's repository. Absent: from those of all loops. */
export async function pruneOld(context: Context, { dir, days }: { dir?: string; days?: number }): Promise<Pruned> {
  const { env, home, now } = context
  await removeLeftPlaces(home)
  const store = context.store()
  const { rows: over } = await store.list({ status: OVER, limit: 1_000_000 })
  const before = now() - (days ?? daysIn(env)) * 86_400_000
  const old = over.filter(({ updatedAt }) => updatedAt < before)
  for (const { id } of old) {
    rmSync(join(home, 'index', id), { force: true })
    rmSync(join(home, 'proof', `${id}.json`), { force: true })
    forgetPins(home, id)
    forgetFiles(home, id)
  }
  await dropSecrets(home, before, () => mayNeedSecrets(store, new Set(old.map(({ id }) => id))))
  await store.board.prune(Math.min(before, now() - READ_ON_MS))
  const ended = new Set(over.map(({ id }) => id))
  const checkpoints = await pruneCheckpoints(
    before,
    // Work that has not been accepted is in a worktree.
    new Set(old.map(({ id }) => id).filter((id) => !existsSync(join(home, 'worktrees', id)))),
    new Set(dir === undefined ? old.map((row) => row.dir) : old.length > 0 ? [dir] : []),
  )
  return {
    tasks: await pruneTasks(store, before),
    transcripts: await store.transcripts.prune(ended, before),
    checkpoints: checkpoints + ((await store.diffs?.prune(ended, before)) ?? 0),
  }
}

/** Loops that can still be resumed or retried, and tasks that can be started. */
async function mayNeedSecrets(store: Store, old: ReadonlySet<string>): Promise<unknown[]> {
  const { rows } = await store.list({ limit: 1_000_000 })
  const loops = await Promise.all(rows.filter(({ id }) => !old.has(id)).map(({ id }) => store.load(id)))
  return [loops, (await store.board.list({ limit: 1_000_000 })).tasks]
}

function daysIn({ RALPH_KEEP_DAYS: text }: Context['env']): number {
  if (!text) return DEFAULTS.keepDays
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new RalphError('usage', `RALPH_KEEP_DAYS must be a whole number of days, got "${text}".`)
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
