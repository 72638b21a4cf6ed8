/** An earlier loop in the same folder that did not finish: what it did to the tests must not pass for how they always were. */
import type { Loop, Owner, Spec } from '../engine/loop.ts'
import type { Store } from '../host/store.ts'
import { treeIn } from '../host/tree.ts'

/** `base`: the state in which it found everything. `same`: nothing has changed since it left off. `owner`: whose it was. */
export type Earlier = { loop: string; base: string; same: boolean; owner: Owner | undefined }

type Known = Pick<Store, 'lastIn' | 'load'>

/** The one that it goes on from, or else the last one here; not where that completed, or changed nothing. */
export async function findEarlier(
  store: Known,
  { work }: Pick<Spec, 'work'>,
  tree: string | undefined,
): Promise<Earlier | undefined> {
  if (tree === undefined) return undefined
  const last = await lastBefore(store, work)
  if (!last || last.next.kind === 'complete') return undefined
  const { spec, tally } = last
  const base = spec.work.proofBase ?? tally.startTree
  if (base === undefined || treeIn(base) === treeIn(tree)) return undefined
  return { loop: last.id, base, same: treeIn(tally.tree ?? '') === treeIn(tree), owner: spec.work.owner }
}

/** What a loop in a worktree of its own goes on from lies in another folder, and was said when it was made. */
function lastBefore(store: Known, { parent, worktree, dir }: Spec['work']): Promise<Loop | undefined> {
  return parent && !worktree ? store.load(parent.loop) : store.lastIn(dir)
}

/** A loop that begins where an earlier one left off goes on with its work, and is measured against the start of that one. */
export async function measuredFrom(store: Known, spec: Spec, tree: string | undefined): Promise<Spec> {
  if (spec.work.gitDir === undefined && !spec.work.worktree) return spec // nothing could be tried on an earlier state
  const { parent, owner } = spec.work
  const earlier = await findEarlier(store, spec, tree)
  // Of a turn that was cut off nobody knows what it left: who goes on from it answers for what lies there.
  return earlier && (parent || (earlier.same && isSameWork(earlier.owner, owner)))
    ? { ...spec, work: { ...spec.work, proofBase: earlier.base } }
    : spec
}

/** Another task is another piece of work; whatever people start without one goes on with what lies there. */
function isSameWork(one: Owner | undefined, other: Owner | undefined): boolean {
  const nameOf = (owner: Owner | undefined) => {
    if (!owner || owner.kind === 'person' || owner.kind === 'session') return ''
    const { kind, name, task, path, id }: Partial<Record<string, unknown>> = owner
    if (kind === 'board' && task === undefined) return ''
    return JSON.stringify([kind, name, task, path, id])
  }
  return nameOf(one) === nameOf(other)
}
