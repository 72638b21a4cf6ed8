/** What a visit needs to drive a loop whose turns ralph takes: its work tree, and the hands' tools around it. */
import { openTree, type Tree } from '../host/tree.ts'
import type { Workbench } from './hands.ts'
import { checkpointsOf } from './rollback.ts'
import type { Visit } from './visit.ts'

type Tools = Omit<Workbench, 'tree' | 'now' | 'lost'> & {
  /** The work tree, where it is open already. */
  tree?: Tree | undefined
}

export async function openBench(held: Visit, { home, tree, ...tools }: Tools): Promise<Workbench> {
  const { loop, lease, now } = held
  if (loop.spec.work.worktree && !tree) await checkpointsOf({ home }, loop) // made again, should somebody have removed it
  return {
    ...tools,
    home,
    tree: tree ?? (await openTree({ ...loop.spec.work, home, loop: loop.id })),
    now,
    lost: lease.lost,
  }
}
