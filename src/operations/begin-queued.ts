/** Starts a queued loop: its folder is read now, not when the loop was requested. */
import { measuredFrom } from '../drive/earlier.ts'
import { type Fact, type Loop, type Next, startLoop } from '../engine/loop.ts'
import { openTree } from '../host/tree.ts'
import { planWorktree } from '../host/worktree.ts'
import { given } from '../request/given.ts'
import type { Context } from './operation.ts'

/** Returns nothing for any other loop. */
export async function beginQueued(context: Context, loop: Loop, at: number): Promise<Fact[]> {
  const { tally } = loop
  if (!isQueued(loop.next) && !(isQueued(tally.held) && (await isResumed(context, loop)))) return []
  const { spec, tree } = await asOfNow(context, loop)
  const measured = await measuredFrom(context.store(), spec, tree)
  const { id: _, ...begun } = startLoop(loop.id, measured, { at, ...given({ tree }) })
  // Messages that arrived meanwhile are for its first turn.
  return [{ kind: 'adopted', at, loop: { ...begun, tally: { ...begun.tally, said: tally.said } } }]
}

function isQueued(next: Next | undefined): boolean {
  return next?.kind === 'wait' && next.why === 'queued'
}

/** It was paused before it started, and is now resumed. */
async function isResumed({ store }: Context, { id, next }: Loop): Promise<boolean> {
  const fact = next.kind === 'wait' && next.why === 'paused' ? await store().nextOrder(id) : undefined
  return fact?.kind === 'told' && fact.order.kind === 'resume'
}

type Now = { spec: Loop['spec']; tree: string | undefined }

async function asOfNow({ home }: Context, { id, spec, tally }: Loop): Promise<Now> {
  const { worktree, proofBase: _, ...work } = spec.work
  // Its starting point was fixed by the request.
  if (worktree && work.parent) return { spec, tree: tally.startTree }
  if (worktree) {
    const { from, path, branch, copied, setup } = worktree
    const { tree, ...plan } = await planWorktree(from, { path, branch, ...given({ copied, setup }) })
    return { spec: { ...spec, work: { ...work, ...plan } }, tree }
  }
  const { look } = await openTree({ ...work, home, loop: id, fresh: true })
  return { spec: { ...spec, work }, tree: await look() }
}
