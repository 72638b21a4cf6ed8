import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { askGit, must } from '../host/git.ts'
import { eventually, running } from '../host/place.test-support.ts'
import { postgresMissing } from '../host/postgres/postgres.test-support.ts'
import { openFleet } from './fleet.test-support.ts'
import { giveOrder } from './give-order.ts'

const missing = await postgresMissing()

const DONE = `echo '<promise>COMPLETE</promise>'`

describe.skipIf(missing)(`a fleet${missing ? `: ${missing}` : ''}`, () => {
  test('works on a task without a repository', async () => {
    const fleet = await openFleet()
    const [task] = await fleet.submit({ prompt: 'Say it.', agent: fleet.agent(`touch x; ${DONE}`) })
    fleet.worker()
    const done = await fleet.reaches(task?.id ?? '', 'done')
    expect(done).toMatchObject({ attempts: 1, worker: null })
    expect((await fleet.store.load(done.loop_id)).next).toMatchObject({ kind: 'complete', proof: 'claimed' })
  })

  test('pushes the work of each iteration to its own branch, and leaves nothing behind', async () => {
    const fleet = await openFleet()
    const repo = await fleet.remote()
    const agent = fleet.agent(`echo "$RALPH_ITERATION" >> b.txt; [ "$RALPH_ITERATION" -lt 2 ] || ${DONE}`)
    const [task] = await fleet.submit({ prompt: 'Write b.txt.', repo, agent, checks: ['test -f b.txt'] })
    const worker = fleet.worker()
    const done = await fleet.reaches(task?.id ?? '', 'done', 'failed', 'resting')
    expect(done).toMatchObject({ state: 'done', pushed: expect.stringMatching(/^[0-9a-f]{40}$/) })
    expect((await fleet.store.load(done.loop_id)).next).toMatchObject({ kind: 'complete', proof: 'verified' })
    expect(must(await askGit(repo, ['show', `${done.branch}:b.txt`]))).toBe('1\n2')
    expect(must(await askGit(repo, ['rev-parse', done.branch]))).toBe(done.pushed)
    worker.drain()
    await worker.ended
    expect(must(await askGit(repo, ['for-each-ref', '--format=%(refname)', 'refs/ralph']))).toBe('')
    const worktrees = join(worker.home, 'worktrees')
    expect(existsSync(worktrees) ? readdirSync(worktrees) : []).toEqual([])
  })

  test('starts a task when its dependencies are done, on any worker', async () => {
    const fleet = await openFleet()
    const agent = fleet.agent(DONE)
    const [first] = await fleet.submit({ prompt: 'First.', agent })
    const [second, third] = await fleet.submit(
      { id: 'second', prompt: 'Second.', agent, depends_on: [first?.id ?? ''] },
      { prompt: 'Third.', agent, depends_on: [first?.id ?? '', 'second'] },
    )
    expect([second?.state, third?.state]).toEqual(['waiting', 'waiting'])
    fleet.worker()
    await fleet.reaches(third?.id ?? '', 'done')
    const ends = await Promise.all(
      [first, second, third].map(async (task) => (await fleet.store.fleet.load(task?.id ?? ''))?.updated_at ?? 0),
    )
    expect(ends).toEqual(ends.toSorted((a, b) => a - b))
  })

  test('does not start a paused task before it is resumed, even if it gets messages', async () => {
    const fleet = await openFleet()
    const repo = await fleet.remote()
    const agent = fleet.agent(`cat > /dev/null; echo x > b.txt; ${DONE}`)
    const [first, second] = await fleet.submit(
      { id: 'first', prompt: 'First.', repo, agent },
      { id: 'second', prompt: 'Second.', repo, agent, depends_on: ['first'] },
    )
    const loops = [first?.loop_id ?? '', second?.loop_id ?? '']
    for (const loop of loops) await giveOrder(fleet.context, loop, { kind: 'pause' })
    const worker = fleet.worker()
    for (const loop of loops) await fleet.store.tell(loop, 'Ada', { kind: 'say', words: 'Mind the gap.' })
    await eventually(async () =>
      (await Promise.all(loops.map((loop) => fleet.store.nextOrder(loop)))).every((told) => !told),
    )
    await giveOrder(fleet.context, loops[1] ?? '', { kind: 'resume' })
    await fleet.reaches('second', 'waiting')
    await giveOrder(fleet.context, loops[0] ?? '', { kind: 'resume' })
    await fleet.reaches('second', 'done')
    expect((await fleet.store.fleet.load('first'))?.state).toBe('done')
    expect(worker.said.filter((line) => line.includes('bug'))).toEqual([])
  })

  test('picks up a cancel while an agent works, and stops the agent', async () => {
    const fleet = await openFleet()
    const [task] = await fleet.submit({ prompt: 'Wait.', agent: fleet.agent('sleep 600') })
    fleet.worker()
    await fleet.reaches(task?.id ?? '', 'running')
    const loop = task?.loop_id ?? ''
    await eventually(async () => (await fleet.store.load(loop)).next.kind === 'turn')
    await giveOrder(fleet.context, loop, { kind: 'cancel' })
    expect(await fleet.reaches(task?.id ?? '', 'cancelled')).toMatchObject({ sentence: 'Cancelled by you.' })
    await eventually(() => running(loop).length === 0)
  })

  test('gives a worker only tasks whose labels and agent it has', async () => {
    const fleet = await openFleet()
    const agent = fleet.agent(DONE)
    const [picky] = await fleet.submit({ prompt: 'GPU.', agent, labels: ['gpu'] })
    const [plain] = await fleet.submit({ prompt: 'Plain.', agent })
    fleet.worker()
    await fleet.reaches(plain?.id ?? '', 'done')
    expect(await fleet.store.fleet.load(picky?.id ?? '')).toMatchObject({ state: 'ready', attempts: 0 })
    const able = fleet.worker({ labels: ['gpu', 'linux'] })
    await fleet.reaches(picky?.id ?? '', 'done')
    expect(able.said.join()).toContain(picky?.id)
  })

  test('hands an iteration back when a worker must stop, and another one continues from what was pushed', async () => {
    const fleet = await openFleet()
    const repo = await fleet.remote()
    const agent = fleet.agent(
      `echo x >> b.txt; if [ "$RALPH_ITERATION" = 2 ] && [ "$RALPH_ATTEMPT" = 1 ]; then sleep 600; fi; [ "$RALPH_ITERATION" -lt 3 ] || ${DONE}`,
    )
    const [task] = await fleet.submit({ prompt: 'Write b.txt.', repo, agent })
    const first = fleet.worker()
    const loop = task?.loop_id ?? ''
    await eventually(async () => (await fleet.store.load(loop)).tally.iteration === 1)
    await eventually(() => running(loop).length > 0)
    first.stop()
    await first.ended
    expect(await fleet.store.fleet.load(task?.id ?? '')).toMatchObject({ state: 'ready', worker: null })
    fleet.worker()
    const done = await fleet.reaches(task?.id ?? '', 'done', 'failed')
    expect(done.state).toBe('done')
    expect((await fleet.store.load(loop)).tally).toMatchObject({ iteration: 3 })
    expect(must(await askGit(repo, ['show', `${done.branch}:b.txt`]))).toBe('x\nx\nx')
  })

  test('drains: finishes the current iteration, and takes nothing new', async () => {
    const fleet = await openFleet()
    const gate = join(fleet.context.home, 'gate')
    const agent = fleet.agent(`while [ ! -e '${gate}' ]; do sleep 0.05; done; echo "$RALPH_ITERATION" >> b.txt`)
    const [task, later] = await fleet.submit({ prompt: 'Slow.', agent }, { prompt: 'Later.', agent })
    const worker = fleet.worker({ concurrency: 1 })
    const taken = await eventually(async () =>
      (await fleet.store.fleet.list({ state: ['running'] })).tasks.find(({ worker: by }) => by === worker.id),
    )
    await eventually(() => running(taken.loop_id).length > 0)
    worker.drain()
    writeFileSync(gate, '')
    await worker.ended
    const states = await Promise.all(
      [task, later].map(async (one) => (await fleet.store.fleet.load(one?.id ?? ''))?.state),
    )
    expect((await fleet.store.load(taken.loop_id)).tally.iteration).toBe(1)
    expect(states.includes('running')).toBe(false)
    expect(await fleet.store.fleet.workers.list()).toEqual([])
  })

  test('merges the tasks of a project in turn, and sends back what cannot be merged', async () => {
    const fleet = await openFleet()
    const repo = await fleet.remote({ 'a.txt': 'a\n', 'check.sh': 'test -s a.txt\n' })
    const write = (word: string) =>
      fleet.agent(
        `git fetch -q 2>/dev/null; git -c user.name=t -c user.email=t@t merge -q -X ours origin/main >/dev/null 2>&1; echo ${word} > a.txt; ${DONE}`,
      )
    const common = { repo, base: 'main', project: 'p', checks: ['sh check.sh'] }
    const [one, two] = await fleet.submit(
      { ...common, prompt: 'One.', agent: write('one') },
      { ...common, prompt: 'Two.', agent: write('two') },
    )
    fleet.worker()
    const ends = await Promise.all([one, two].map((task) => fleet.reaches(task?.id ?? '', 'done', 'failed')))
    expect(ends.map(({ state }) => state)).toEqual(['done', 'done'])
    expect(ends.map(({ sent_back }) => sent_back).reduce((a, b) => a + b)).toBeGreaterThan(0)
    expect(['one', 'two']).toContain(must(await askGit(repo, ['show', 'main:a.txt'])))
    for (const { pushed } of ends) must(await askGit(repo, ['merge-base', '--is-ancestor', pushed ?? '', 'main']))
  })
})
