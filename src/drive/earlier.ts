/**
 * An earlier loop in the same folder that did not finish: its changes to the tests must not pass for the original ones.
 */
import type { Loop, Owner, Spec } from '../engine/loop.ts'
import type { Store } from '../host/store.ts'
import { treeIn } from '../host/tree.ts'

/** `base`: the state it started from. `same`: nothing has changed since it stopped. `owner`: whose it was. */
export type Earlier = { loop: string; base: string; same: boolean; owner: Owner | undefined }

type Known = Pick<Store, 'lastIn' | 'load'>

/** The loop that this one continues, or else the last one in this folder, unless that completed or changed nothing. */
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

/** A loop in its own worktree continues one from another folder, which was recorded when it was created. */
function lastBefore(store: Known, { parent, worktree, dir }: Spec['work']): Promise<Loop | undefined> {
  return parent && !worktree ? store.load(parent.loop) : store.lastIn(dir)
}

/**
 * A loop that starts where an earlier one stopped continues its work, and is measured against the start of that one.
 */
export async function measuredFrom(store: Known, spec: Spec, tree: string | undefined): Promise<Spec> {
  if (spec.work.gitDir === undefined && !spec.work.worktree) return spec // experiments cannot run on an earlier state
  const { parent, owner } = spec.work
  const earlier = await findEarlier(store, spec, tree)
  // What an interrupted turn left is unknown: whoever continues from it is responsible for it.
  return earlier && (parent || (earlier.same && isSameWork(earlier.owner, owner)))
    ? { ...spec, work: { ...spec.work, proofBase: earlier.base } }
    : spec
}

/** A different task is different work; anything started without a task continues what is there. */
function isSameWork(one: Owner | undefined, other: Owner | undefined): boolean {
  const nameOf = (owner: Owner | undefined) => {
    if (!owner || owner.kind === 'person' || owner.kind === 'session') return ''
    const { kind, name, task, path, id }: Partial<Record<string, unknown>> = owner
    if (kind === 'board' && task === undefined) return ''
    return JSON.stringify([kind, name, task, path, id])
  }
  return nameOf(one) === nameOf(other)
}
