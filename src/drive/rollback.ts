/** Rolls a loop's files back to a checkpoint, and undoes that. */
import { existsSync, mkdirSync } from 'node:fs'
import { ended, type Loop, type Worktree } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { listCheckpoints, NOW, refOf } from '../host/checkpoint.ts'
import { notedCommits } from '../host/kept-commits.ts'
import { commitsFile } from '../host/pin.ts'
import { reap } from '../host/process-tree.ts'
import { bringUpToDate, rollBack, undoRollBack } from '../host/roll-back.ts'
import type { Store } from '../host/store.ts'
import { type Checkpoints, openTree } from '../host/tree.ts'
import { dropWorktree, ensureWorktree, repositoryOf } from '../host/worktree.ts'
import { runningAlongside } from './alongside.ts'
import { visit } from './visit.ts'

export type Desk = { store: Store; home: string; now: () => number }

/** Restores files, HEAD and index to their state after iteration n. Returns notes for the user. */
export async function rollback(desk: Desk, id: string, n: number): Promise<string[]> {
  return alone(desk, id, async (loop) => {
    const notes = await rollBack((await checkpointsOf(desk, loop)).restoring, n)
    await tell(
      desk,
      loop,
      `The files were restored to their state ${n === 0 ? 'at the start' : `after iteration ${n}`}.`,
    )
    return notes
  })
}

export async function undo(desk: Desk, id: string): Promise<string[]> {
  return alone(desk, id, async (loop) => {
    const notes = await undoRollBack((await checkpointsOf(desk, loop)).restoring)
    await tell(desk, loop, 'That rollback was undone: the files are as they were before it.')
    return notes
  })
}

/** The next iteration of an unfinished loop must know. */
async function tell({ store }: Desk, loop: Loop, words: string): Promise<void> {
  if (!ended(loop)) await store.tell(loop.id, 'ralph', { kind: 'say', words })
}

/** No process may run this loop, or another one in the same repository, in the meantime. */
export async function alone<Result>(
  { store, now }: Desk,
  id: string,
  work: (loop: Loop) => Promise<Result>,
): Promise<Result> {
  const isOver = ended(await store.load(id))
  return visit(id, {
    store,
    now,
    // A git whose ralph was killed may still be writing. Whoever resumes the loop deals with lost turns.
    takeUp: { reap, loss: async () => undefined },
    held(by) {
      throw new RalphError(
        'loop-held',
        isOver
          ? `Loop ${id} is in use by ${by}. Try again once that has finished.`
          : `Loop ${id} is running in ${by}. Pause it first: ralph pause ${id}`,
      )
    },
    async work({ loop }) {
      const [other] = await runningAlongside(store, loop)
      if (other === undefined) return work(loop)
      throw new RalphError(
        'loop-held',
        `Loop ${other} is working in the same place as loop ${id}. Pause it first: ralph pause ${other}`,
      )
    },
  })
}

/** The checkpoints of a loop, in its own worktree if it has one; a worktree that was removed by hand is recreated. */
export async function checkpointsOf({ home }: Pick<Desk, 'home'>, loop: Loop): Promise<Checkpoints> {
  const { dir, worktree } = loop.spec.work
  const open = async () => {
    const { checkpoints } = await openTree({
      ...loop.spec.work,
      home,
      loop: loop.id,
      begun: loop.tally.iteration > 0,
    })
    if (!('none' in checkpoints)) return checkpoints
    throw new RalphError('checkpoint-missing', `Loop ${loop.id} has no checkpoints: ${checkpoints.none} (${dir}).`)
  }
  if (worktree) {
    await refuseOver(home, worktree, loop)
    await ensureWorktree(worktree, async () => {
      mkdirSync(dir, { recursive: true }) // a folder that is not in any commit
      await bringUpToDate((await open()).restoring)
    })
  }
  return open()
}

const ACCEPTED: ReadonlySet<string> = new Set(['merged', 'branched'])

/** Accepted work is finished; work that is neither in a worktree nor in a checkpoint is lost. */
async function refuseOver(home: string, worktree: Worktree, { id, tally }: Loop): Promise<void> {
  const repo = await repositoryOf(worktree.from)
  const noted = notedCommits({ commits: commitsFile(home, id) })
  // An agent can write such a ref; loops of older versions have no notes.
  const isTrue = (name: string) => noted.size === 0 || !ACCEPTED.has(name) || noted.has(refOf(id, name))
  const names = (await listCheckpoints(repo, id)).filter(isTrue)
  const merged = names.includes('merged')
  if (merged || names.includes('branched')) {
    await dropWorktree(worktree, merged) // ralph may have been killed before it could
    const where = merged ? 'merged' : `left on the branch ${worktree.branch}`
    throw new RalphError('loop-state', `Loop ${id} has already been accepted: its work was ${where}.`)
  }
  if (tally.iteration > 0 && !existsSync(worktree.path) && !names.includes(NOW))
    throw new RalphError(
      'checkpoint-missing',
      `The worktree ${worktree.path} of loop ${id} no longer exists, nor do its checkpoints.`,
    )
}
