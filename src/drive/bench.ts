/** What a visit needs to drive a loop whose turns ralph takes: its worktree and the tools around it. */
import { lowMbFor, watchRoom } from '../host/disk-room.ts'
import { prepareWorktree, SETUP_MINUTES } from '../host/prepare-worktree.ts'
import { fenceOf } from '../host/sandbox.ts'
import { openTree, type Tree } from '../host/tree.ts'
import type { Workbench } from './hands.ts'
import { promiseMinutes } from './promised.ts'
import { checkpointsOf } from './rollback.ts'
import type { Visit } from './visit.ts'

type Tools = Omit<Workbench, 'tree' | 'now' | 'lost' | 'expect' | 'fence'> & {
  /** The worktree, if it is already open. */
  tree?: Tree | undefined
}

export async function openBench(held: Visit, { home, tree, ...tools }: Tools): Promise<Workbench> {
  const { loop, lease, now } = held
  const { worktree, dir } = loop.spec.work
  if (worktree && !tree) await checkpointsOf({ home }, loop) // recreated if somebody removed it
  const { stop: signal, show } = tools
  const note = (text: string) => show({ kind: 'note', text }, loop)
  watchRoom(home, { lowMb: lowMbFor(loop.spec.work.transcriptMb), note })() // each turn looks again
  const again = loop.spec.work.owner?.kind === 'project' ? 'ralph execute' : `ralph resume ${loop.id}`
  const fence = fenceOf(home, loop.spec.work)
  promiseMinutes(lease, SETUP_MINUTES)
  const own = worktree
    ? await prepareWorktree(worktree, { home, loop: loop.id, dir, env: tools.env, signal, note, again, fence })
    : {}
  return {
    ...tools,
    env: { ...tools.env, ...own },
    home,
    fence,
    tree: tree ?? (await openTree({ ...loop.spec.work, home, loop: loop.id, begun: loop.tally.iteration > 0 })),
    now,
    lost: lease.lost,
    expect: lease.expect,
  }
}
