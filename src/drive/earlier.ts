/** An earlier loop in the same folder that did not finish: what it did to the tests must not pass for how they always were. */
import type { Owner, Spec } from '../engine/loop.ts'
import type { Store } from '../host/store.ts'
import { treeIn } from '../host/tree.ts'

/** `base`: the state in which it found everything. `same`: nothing has changed since it left off. `owner`: whose it was. */
export type Earlier = { loop: string; base: string; same: boolean; owner: Owner | undefined }

const LOOKED_AT = 10

/** The last one here, unless it completed or changed nothing. */
export async function findEarlier(
  store: Pick<Store, 'list' | 'load'>,
  dir: string,
  tree: string | undefined,
): Promise<Earlier | undefined> {
  if (tree === undefined) return undefined
  const { rows } = await store.list({ dir, limit: LOOKED_AT })
  const last = rows.find(({ iteration }) => iteration > 0)
  if (!last || last.status === 'completed') return undefined
  const { spec, tally } = await store.load(last.id)
  const base = spec.work.proofBase ?? tally.startTree
  if (base === undefined || tally.tree === undefined || treeIn(base) === treeIn(tree)) return undefined
  return { loop: last.id, base, same: treeIn(tally.tree) === treeIn(tree), owner: spec.work.owner }
}

/** A loop that begins where an earlier one left off goes on with its work, and is measured against the start of that one. */
export async function measuredFrom(
  store: Pick<Store, 'list' | 'load'>,
  spec: Spec,
  tree: string | undefined,
): Promise<Spec> {
  if (spec.work.gitDir === undefined && !spec.work.worktree) return spec // nothing could be tried on an earlier state
  const earlier = await findEarlier(store, spec.work.dir, tree)
  return earlier?.same && isSameWork(earlier.owner, spec.work.owner)
    ? { ...spec, work: { ...spec.work, proofBase: earlier.base } }
    : spec
}

/** Another task of a project or of a vault is another piece of work; what people start by hand goes on with what lies there. */
function isSameWork(one: Owner | undefined, other: Owner | undefined): boolean {
  const nameOf = (owner: Owner | undefined) => {
    if (!owner || owner.kind === 'person' || owner.kind === 'session') return ''
    const { kind, name, task, path, id }: Partial<Record<string, unknown>> = owner
    return JSON.stringify([kind, name, task, path, id])
  }
  return nameOf(one) === nameOf(other)
}
