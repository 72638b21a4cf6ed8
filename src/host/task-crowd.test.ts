/** Several processes of one machine, and of another, work on tasks of one repository at once. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newLoopId } from './loop-id.ts'
import { source, startScript, temporaryFolder } from './place.test-support.ts'
import { makeRemote } from './remote.test-support.ts'

/**
 * A process that works on these tasks in parallel, each in two iterations, and merges them. Reports what went wrong.
 */
const code = (home: string, repo: string, loops: readonly string[]) => `
  import { writeFileSync } from 'node:fs'
  import { takeFence } from ${source('host/take-fence.ts')}
  import { finishBranch, pushIteration } from ${source('host/task-push.ts')}
  import { closeTaskTree, openTaskTree } from ${source('host/task-tree.ts')}
  import { mergeIntoBase } from ${source('host/merge-into-base.ts')}
  import { openTree } from ${source('host/tree.ts')}
  await Promise.all(${JSON.stringify(loops)}.map(async (loop) => {
    const place = { home: ${JSON.stringify(home)}, repo: ${JSON.stringify(repo)}, branch: 'ralph/' + loop, loop, epoch: 1 }
    const expect = (kind, came) => {
      if (came.kind !== kind) console.log(loop, JSON.stringify(came))
      return came
    }
    expect('taken', await takeFence(place))
    const { work } = expect('open', await openTaskTree({ ...place, base: 'main' }))
    const tree = await openTree({ dir: work.dir, home: place.home, loop })
    let pushed
    for (const iteration of [0, 1, 2]) {
      if (iteration > 0) writeFileSync(work.dir + '/' + loop, String(iteration))
      await tree.look()
      await tree.checkpoints.keep(iteration)
      pushed = expect('pushed', await pushIteration({ ...place, task: loop, iteration, pushed })).commit
    }
    const merging = { ...place, base: 'main', message: 'Merge ' + loop, check: async () => [] }
    let merged = await mergeIntoBase(merging)
    while (merged.kind === 'unreachable') merged = await mergeIntoBase(merging) // the others were quicker, again and again
    expect('merged', merged)
    expect('finished', await finishBranch(place))
    await closeTaskTree(place)
  }))`

test('each task arrives, and nothing is left', async () => {
  const remote = await makeRemote()
  const [here, there] = [temporaryFolder(), temporaryFolder()]
  const parts = [here, here, there].map((home) => ({ home, loops: [newLoopId(), newLoopId(), newLoopId()] }))
  const ends = await Promise.all(parts.map(({ home, loops }) => startScript(code(home, remote.url, loops)).ended))
  expect(ends.map(({ code: exit, out, err }) => ({ exit, out, err }))).toEqual(
    parts.map(() => ({ exit: 0, out: '', err: '' })),
  )
  const loops = parts.flatMap((part) => part.loops)
  expect(remote.git('ls-tree', '--name-only', 'main').split('\n').sort()).toEqual(['a.txt', ...loops].sort())
  expect(remote.refs()).toEqual(
    ['main', ...loops.map((loop) => `ralph/${loop}`)].map((name) => `refs/heads/${name}`).sort(),
  )
  for (const home of [here, there])
    expect(['worktrees', 'merges', 'tasks', 'git'].map((name) => readdirSync(join(home, name)))).toEqual([
      [],
      [],
      [],
      [],
    ])
})
