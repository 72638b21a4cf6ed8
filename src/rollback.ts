/** What a person does with the work of a loop: go back to a checkpoint, take that back, accept it. */
import { ended, type Loop, type Worktree } from './engine/loop.ts'
import { RalphError } from './error.ts'
import { refOf } from './host/checkpoint.ts'
import type { LocalStore } from './host/sqlite.ts'
import { type Checkpoints, openTree } from './host/tree.ts'
import {
  commitRest,
  ensureWorktree,
  gatherOnBranch,
  mergeBranch,
  refuseHidden,
  refuseLostCommits,
  removeWorktree,
  repositoryOf,
} from './host/worktree.ts'

export type Desk = { store: LocalStore; home: string }

/** Files, HEAD and index become what they were after iteration n. Returns what a person should know besides. */
export async function rollback(desk: Desk, id: string, n: number): Promise<string[]> {
  return alone(desk, id, async (loop) => {
    const notes = await (await checkpointsOf(desk, loop)).rollBack(n)
    const words = `The files were put back to how they were ${n === 0 ? 'at the start' : `after iteration ${n}`}.`
    if (!ended(loop)) await desk.store.tell(id, 'ralph', { kind: 'say', words })
    return notes
  })
}

export async function undo(desk: Desk, id: string): Promise<string[]> {
  return alone(desk, id, async (loop) => (await checkpointsOf(desk, loop)).undo())
}

/** The work of a loop in its own work tree becomes part of the person's branch, or a branch ready for a pull request. */
export async function accept(desk: Desk, id: string, how: { merge: boolean }): Promise<Worktree> {
  return alone(desk, id, async (loop) => {
    const { worktree } = loop.spec.work
    if (!worktree)
      throw new RalphError(
        'usage',
        `Loop ${id} worked in ${loop.spec.work.dir} itself; there is nothing to accept. \`ralph rollback ${id} 0\` would take its work back.`,
      )
    if (!ended(loop))
      throw new RalphError(
        'usage',
        `Loop ${id} has not ended. Let it go on with \`ralph resume ${id}\`, or end it with \`ralph cancel ${id}\`.`,
      )
    await checkpointsOf(desk, loop) // a work tree that was removed by hand is made again
    await refuseHidden(worktree)
    await commitRest(worktree, messageOf(loop))
    await refuseLostCommits(worktree)
    await gatherOnBranch(worktree)
    if (how.merge) await mergeBranch(worktree, id)
    const { ask } = await repositoryOf(worktree.from)
    await ask(['update-ref', acceptedRef(id), worktree.branch])
    await removeWorktree(worktree, how.merge)
    return worktree
  })
}

/** Nobody may drive this loop, or another one in the same folder, meanwhile. */
async function alone<Result>({ store }: Desk, id: string, work: (loop: Loop) => Promise<Result>): Promise<Result> {
  const lease = await store.lease(id)
  if ('heldBy' in lease)
    throw new RalphError(
      'loop-held',
      `Loop ${id} is being driven by ${lease.heldBy}. Pause it first: ralph pause ${id}`,
    )
  try {
    const loop = await store.load(id)
    for (const other of await store.list({ dir: placeOf(loop), limit: 100 }))
      if (other.id !== id && (await store.isDriven(other.id)) && (await sameFolder(store, other.id, loop)))
        throw new RalphError(
          'loop-held',
          `Loop ${other.id} is at work in ${loop.spec.work.dir}. Pause it first: ralph pause ${other.id}`,
        )
    return await work(loop)
  } finally {
    await lease.release()
  }
}

function placeOf({ spec }: Loop): string {
  return spec.work.worktree?.from ?? spec.work.dir
}

async function sameFolder(store: LocalStore, other: string, loop: Loop): Promise<boolean> {
  return (await store.load(other)).spec.work.dir === loop.spec.work.dir
}

/** The checkpoints of a loop, in its own work tree if it has one; one that was removed by hand is made again. */
export async function checkpointsOf({ home }: Pick<Desk, 'home'>, loop: Loop): Promise<Checkpoints> {
  const { dir, worktree } = loop.spec.work
  if (worktree) await refuseAccepted(worktree, loop.id)
  const open = async () => {
    const { checkpoints } = await openTree({ ...loop.spec.work, home, loop: loop.id })
    if (!('none' in checkpoints)) return checkpoints
    throw new RalphError('checkpoint-missing', `Loop ${loop.id} has no checkpoints: ${checkpoints.none} (${dir}).`)
  }
  if (worktree) await ensureWorktree(worktree, async () => (await open()).bringUpToDate())
  return open()
}

async function refuseAccepted({ from, branch }: Worktree, id: string): Promise<void> {
  const { ask } = await repositoryOf(from)
  if ((await ask(['rev-parse', '--verify', '--quiet', acceptedRef(id)])).ok)
    throw new RalphError(
      'usage',
      `Loop ${id} was accepted already: its work was merged, or is on the branch ${branch}.`,
    )
}

function acceptedRef(id: string): string {
  return refOf(id, 'accepted')
}

/** The task as the subject, cut where git likes it cut. */
function messageOf({ id, spec, tally, next }: Loop): string {
  const line = spec.prompt.trim().split('\n')[0] ?? ''
  const subject = line.length > 70 ? `${line.slice(0, 69)}…` : line
  const proof =
    next.kind === 'complete' ? `complete, proof: ${next.proof}` : next.kind === 'halt' ? `halted (${next.reason})` : ''
  return `${subject}\n\nralph loop ${id}: ${proof}, after ${tally.iteration} iteration${tally.iteration === 1 ? '' : 's'}.\n`
}
