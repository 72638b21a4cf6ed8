import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { visit } from '../drive/visit.ts'
import { type Loop, startLoop } from '../engine/loop.ts'
import { newLoopId } from '../host/loop-id.ts'
import { makeRemote, type Remote } from '../host/remote.test-support.ts'
import { takeFence } from '../host/take-fence.ts'
import { takeOverTask } from '../host/take-over.ts'
import { pushIteration } from '../host/task-push.ts'
import { closeTaskTree, type OpenTask, openTaskTree } from '../host/task-tree.ts'
import { resolveSpec } from '../request/resolve.ts'
import { driveLoop } from './drive-loop.ts'
import { type OperationPlace, openPlace } from './place.test-support.ts'

let remote: Remote
let loop: string
let one: OperationPlace

const BRANCH = 'ralph/T1'
const CLAIMS = 'echo "<promise>COMPLETE</promise>"'

beforeEach(async () => {
  remote = await makeRemote({ 'a.txt': 'a\n', 'check.sh': 'grep -q whole work.txt\n', '.gitignore': 'installed\n' })
  loop = newLoopId()
  one = openPlace()
})

const placeOf = ({ context }: OperationPlace) => ({ home: context.home, repo: remote.url, branch: BRANCH, loop })

async function begin(place: OperationPlace, lines: string, setup?: string): Promise<OpenTask> {
  const { context } = place
  await takeFence({ ...placeOf(place), epoch: 1 })
  const open = await openTaskTree({ ...placeOf(place), base: 'main', ...(setup === undefined ? {} : { setup }) })
  if (open.kind !== 'open') throw new Error(open.why)
  const request = { prompt: 'Build it', agents: [place.agent(lines)], checks: ['sh check.sh'], iterations: 5 }
  const spec = await resolveSpec(request, { ...open.work, env: context.env, config: {} })
  await context.store().create(startLoop(loop, spec, { at: context.now(), tree: open.tree }))
  return open
}

describe('the loop of a task', () => {
  test('is driven in its worktree, proved and closed', async () => {
    const open = await begin(one, `echo whole > work.txt; ${CLAIMS}`, 'touch installed')
    const done = await one.drive(loop)
    expect(done.next).toMatchObject({ kind: 'complete', proof: 'verified' })
    expect(done.tally).toMatchObject({ iteration: 1, startTree: open.tree, findings: [] })
    expect(readdirSync(open.work.dir)).toContain('installed')
    const pushed = await pushIteration({ ...placeOf(one), task: 'T1', iteration: 1, epoch: 1 })
    expect(pushed).toMatchObject({ kind: 'pushed' })
    expect(remote.git('ls-tree', '--name-only', BRANCH).split('\n')).toEqual([
      ...['.gitignore', 'a.txt', 'check.sh', 'work.txt'],
    ])
    await closeTaskTree(placeOf(one))
    expect(readdirSync(join(one.context.home, 'worktrees'))).toEqual([])
  })

  test('that changed its check is not verified', async () => {
    await begin(one, `echo true > check.sh; ${CLAIMS}`)
    expect((await one.drive(loop)).next).not.toMatchObject({ kind: 'complete', proof: 'verified' })
  })

  test('continues on another machine, and is proven from its original start', async () => {
    const open = await begin(
      one,
      `if [ -e half.txt ]; then echo whole > work.txt; ${CLAIMS}; else echo > half.txt; fi`,
      'touch installed',
    )
    const left = await driveUntilTurn(one)
    expect(left.next).toMatchObject({ kind: 'turn', iteration: 2 })
    const pushed = await pushIteration({ ...placeOf(one), task: 'T1', iteration: 1, epoch: 1 })
    if (pushed.kind !== 'pushed') throw new Error(JSON.stringify(pushed))

    const two = openPlace()
    const { iteration, tree } = left.tally
    const known = { epoch: 2, iteration, tree, pushed: pushed.commit, worktree: open.work.worktree }
    const there = await takeOverTask({ ...placeOf(two), ...known })
    if (there.kind !== 'open') throw new Error(JSON.stringify(there))
    expect(there.tree).toBe(left.tally.tree)
    await move(two, left, there)
    const done = await two.drive(loop)
    expect(done.next).toMatchObject({ kind: 'complete', proof: 'verified' })
    expect(done.tally).toMatchObject({ iteration: 2, findings: [] })
    expect(readdirSync(there.work.dir)).toContain('installed')
    await pushIteration({ ...placeOf(two), task: 'T1', iteration: 2, epoch: 2, pushed: pushed.commit })
    expect(remote.git('log', '--format=%s', BRANCH).split('\n')).toEqual([
      ...[2, 1].map((n) => `task T1 (iteration ${n})`),
      'Start',
    ])
  })
})

/** Its driver dies after the first iteration. */
async function driveUntilTurn({ context }: OperationPlace): Promise<Loop> {
  const stop = new AbortController()
  return driveLoop(context, loop, {
    stop: stop.signal,
    begin: () => {},
    show: () => {},
    say: () => {},
    saw: (_, fact) => fact.kind === 'turned' && stop.abort(),
  })
}

/** In the fleet, both machines share one store. */
async function move({ context }: OperationPlace, left: Loop, { work }: OpenTask): Promise<void> {
  const store = context.store()
  await store.create(left)
  await visit(loop, {
    store,
    now: context.now,
    held: (by) => Promise.reject(new Error(by)),
    work: (held) => held.move({ kind: 'moved', at: held.now(), to: work }),
  })
}
