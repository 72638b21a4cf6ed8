/** Loops that start from the state of another one: their files, their proof, and what they leave alone. */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Loop } from '../engine/loop.ts'
import { makeRepository, type TestRepository } from '../host/repository.test-support.ts'
import { OPERATIONS } from './index.ts'
import { type OperationPlace, openPlace } from './place.test-support.ts'

const WORKS = 'echo "$RALPH_ITERATION" > "$RALPH_ITERATION.txt"; git add 1.txt 2>/dev/null; echo "I worked."'
const CLAIMS = 'echo "<promise>COMPLETE</promise>"'

type Asked = { lines?: string; worktree?: boolean; checks?: string[]; until?: string; iterations?: number }
type Worked = OperationPlace & TestRepository & { first: Loop; work(loop: Loop): string }

/** A loop that has used up its iterations. */
async function worked(
  { lines = WORKS, iterations = 2, ...asked }: Asked = {},
  files: Record<string, string> = { 'a.txt': 'a\n' },
): Promise<Worked> {
  const repository = await makeRepository(files)
  const place = openPlace({ cwd: repository.dir })
  const { loop } = await place.run('start_loop', {
    prompt: 'Build it',
    agent: place.agent(lines),
    limits: { iterations, noProgress: 9 },
    ...asked,
  })
  const first = await place.drive(loop)
  return { ...place, ...repository, first, work: ({ spec }) => spec.work.dir }
}

const filesOf = (dir: string) => ['1.txt', '2.txt', 'mine.txt'].filter((name) => existsSync(join(dir, name)))

describe('a fork', () => {
  test.each([
    ['in place', false],
    ['in a worktree', true],
  ])('starts from the files after an iteration of a loop %s, which does not change', async (_, worktree) => {
    const place = await worked({ worktree })
    const { first } = place
    const before = [filesOf(place.work(first)), place.status(), place.log(), await place.context.store().load(first.id)]
    const forked = await place.run('fork', { loop: first.id, iteration: 1, prompt: 'Build it otherwise' })
    expect(forked).toEqual({ loop: forked.loop, from: first.id, iteration: 1 })
    place.agent(CLAIMS)
    const loop = await place.drive(forked.loop)
    expect(loop).toMatchObject({
      spec: {
        prompt: 'Build it otherwise',
        limits: { iterations: 2 },
        work: { parent: { loop: first.id, iteration: 1 } },
      },
    })
    expect(filesOf(place.work(loop))).toEqual(['1.txt'])
    expect(place.git('-C', place.work(loop), 'status', '--porcelain', '--branch')).toBe(`## ralph/${loop.id}\nA  1.txt`)
    expect([
      filesOf(place.work(first)),
      place.status(),
      place.log(),
      await place.context.store().load(first.id),
    ]).toEqual(before)
  })

  test('starts from the start, or after the last iteration', async () => {
    const place = await worked()
    const start = await place.run('fork', { loop: place.first.id, iteration: 0 })
    const last = await place.run('fork', { loop: place.first.id })
    expect(last.iteration).toBe(2)
    place.agent(CLAIMS)
    expect(filesOf(place.work(await place.drive(start.loop)))).toEqual([])
    expect(filesOf(place.work(await place.drive(last.loop)))).toEqual(['1.txt', '2.txt'])
  })

  test('is merged into the branch that the first loop was started from', async () => {
    const place = await worked({
      worktree: true,
      lines: `${WORKS}; git add -A; git commit -qm "Part $RALPH_ITERATION"`,
    })
    const { loop } = await place.run('fork', { loop: place.first.id, iteration: 1 })
    place.agent(`echo mine > mine.txt; ${CLAIMS}`)
    await place.drive(loop)
    expect(await place.run('accept', { loop })).toMatchObject({ base: 'main' })
    expect(place.log()).toEqual(['Build it', 'Part 1', 'Start'])
    expect(filesOf(place.dir)).toEqual(['1.txt', 'mine.txt'])
  })

  test('of a fork, of one whose worktree was deleted, and of one that was accepted', async () => {
    const place = await worked({ worktree: true })
    const { loop } = await place.run('fork', { loop: place.first.id, iteration: 1 })
    place.agent(`echo mine > mine.txt; ${CLAIMS}`)
    const fork = await place.drive(loop)
    rmSync(place.work(fork), { recursive: true })
    const { loop: second } = await place.run('fork', { loop })
    expect(filesOf(place.work(await place.drive(second)))).toEqual(['1.txt', 'mine.txt'])
    await place.run('accept', { loop })
    const { loop: third } = await place.run('fork', { loop, iteration: 0 })
    expect(filesOf(place.work(await place.drive(third)))).toEqual(['1.txt', 'mine.txt'])
  })

  test('starts from these files even if a ralph was killed while it created the worktree', async () => {
    const place = await worked()
    const { loop } = await place.run('fork', { loop: place.first.id, iteration: 1 })
    const { worktree } = (await place.context.store().load(loop)).spec.work
    const { path = '', branch = '' } = worktree ?? {}
    place.git('worktree', 'add', '--quiet', '--lock', '-b', branch, path, 'HEAD')
    place.agent(CLAIMS)
    expect(filesOf(place.work(await place.drive(loop)))).toEqual(['1.txt'])
  })

  test('keeps its task, and passes the extra message to its first iteration', async () => {
    const place = await worked()
    const { loop } = await place.run('fork', { loop: place.first.id, iteration: 1, words: 'Use blue.' })
    place.agent(CLAIMS)
    expect((await place.drive(loop)).spec.prompt).toBe(place.first.spec.prompt)
    expect((await place.run('get_iteration', { loop, iteration: 1 })).prompt).toContain('> A person says: Use blue.')
  })

  test('uses another agent and other limits if they are given', async () => {
    const place = await worked()
    const { loop } = await place.run('fork', {
      loop: place.first.id,
      agent: 'command:sh -c true',
      limits: { iterations: 7, minutes: 5 },
    })
    expect((await place.context.store().load(loop)).spec).toMatchObject({
      limits: { iterations: 7, minutes: 5, noProgress: 9 },
      work: { agent: 'command:sh -c true' },
    })
  })

  test.each([
    ['a limit', { limits: { costUsd: 5 } }, 'command:true', '--max-cost cannot be enforced'],
    ['tools to report with', { mcp: true }, 'scripted:turns.json', '--mcp is not available'],
  ])('refuses an agent that does not support the request: %s', async (_, asked, agent, refusal) => {
    const { dir } = await makeRepository({ 'turns.json': '{ "turns": [[{ "text": "I worked." }]] }' })
    const place = openPlace({ cwd: dir })
    const able = 'mcp' in asked ? 'command:true' : 'scripted:turns.json'
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: able, ...asked })
    await place.run('cancel', { loop })
    await expect(place.run('fork', { loop, agent })).rejects.toThrow(refusal)
    await expect(place.run('retry', { loop, agent })).rejects.toThrow(refusal)
  })

  test('ignores config settings that its agent does not support', async () => {
    const { dir } = await makeRepository({
      'turns.json': '{ "turns": [[{ "text": "I worked." }]] }',
      'ralph.config.json': '{ "max_cost_usd": 4, "mcp": true }',
    })
    const place = openPlace({ cwd: dir })
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: 'command:true' })
    await place.run('cancel', { loop })
    const { loop: again } = await place.run('retry', { loop, agent: 'scripted:turns.json' })
    const { spec } = await place.context.store().load(again)
    expect(spec.work.mcp).toBeUndefined()
    expect(spec.limits.costUsd).toBe(4)
    await place.run('cancel', { loop: again })
    expect(await place.run('retry', { loop: again, agent: 'command:true' })).toMatchObject({ from: again })
  })

  test('is queued if workers run loops, and starts where it was forked', async () => {
    const place = await worked()
    const context = { ...place.context, workers: { take: () => {}, look: () => {} } }
    const forked = await OPERATIONS.fork.run(context, { loop: place.first.id, iteration: 1 })
    expect(forked.queued).toBe(true)
    place.commit('Mine', { 'b.txt': 'b\n' })
    place.agent(CLAIMS)
    const loop = await place.drive(forked.loop)
    expect(loop.spec.work).toMatchObject({ owner: { kind: 'board' }, parent: { iteration: 1 } })
    expect(filesOf(place.work(loop))).toEqual(['1.txt'])
    expect(existsSync(join(place.work(loop), 'b.txt'))).toBe(false)
  })

  test('that is impossible is refused, and leaves nothing behind', async () => {
    const place = await worked()
    const { git, first } = place
    const { id: loop } = first
    await expect(place.run('fork', { loop, iteration: 9 })).rejects.toThrow('It has 0 to 2;')
    await expect(place.run('fork', { loop: 'nope' })).rejects.toThrow('No such loop: nope')
    await expect(place.run('fork', { loop, agent: 'command:nowhere' })).rejects.toThrow('was not found')
    for (const ref of git('for-each-ref', '--format=%(refname)', 'refs/ralph/').split('\n'))
      git('update-ref', '-d', ref)
    await expect(place.run('fork', { loop })).rejects.toThrow('has no checkpoint 2')
    expect((await place.run('list_loops', {})).loops).toHaveLength(1)
    expect(git('for-each-ref', 'refs/ralph', 'refs/heads/ralph')).toBe('')
  })

  test('that loses a race leaves nothing in git', async () => {
    const { dir, git } = await makeRepository()
    const place = openPlace({ cwd: dir })
    const asked = { title: 'Build it', repo: dir, agent: place.agent('touch new; echo "<promise>COMPLETE</promise>"') }
    const { id: task_id } = await place.run('create_task', asked)
    const { loop } = await place.run('start_loop', { task_id })
    await place.drive(loop)
    const forks = await Promise.allSettled([place.run('fork', { loop }), place.run('fork', { loop })])
    expect(forks.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const known = (await place.run('list_loops', {})).loops.map(({ id }) => id)
    const refs = git('for-each-ref', '--format=%(refname)', 'refs/ralph').trim().split('\n')
    expect(new Set(refs.map((ref) => ref.split('/')[2]))).toEqual(new Set(known))
  })

  test('that is stored keeps its files in git, whatever fails afterwards', async () => {
    const { dir, git } = await makeRepository()
    const place = openPlace({ cwd: dir })
    const { loop } = await place.run('start_loop', {
      prompt: 'Build it',
      agent: place.agent(`touch new; echo "<promise>COMPLETE</promise>"`),
    })
    await place.drive(loop)
    const store = place.context.store()
    const create: typeof store.create = async (made, told) => {
      await store.create(made, told)
      throw new Error('The disk is full.')
    }
    place.context.store = () => ({ ...store, create })
    await expect(place.run('fork', { loop })).rejects.toThrow('The disk is full.')
    const fork = (await place.run('list_loops', {})).loops.find(({ id }) => id !== loop)?.id ?? ''
    expect(git('for-each-ref', '--format=%(refname)', `refs/ralph/${fork}/`)).not.toBe('')
  })

  test('needs git, and a commit', async () => {
    const bare = openPlace()
    const agent = bare.agent(WORKS)
    const { loop } = await bare.run('start_loop', { prompt: 'Build it', agent, limits: { iterations: 1 } })
    await bare.drive(loop)
    await expect(bare.run('fork', { loop })).rejects.toMatchObject({ code: 'checkpoint-missing' })
    const place = await worked({ lines: `git update-ref -d HEAD; ${WORKS}` })
    await expect(place.run('fork', { loop: place.first.id })).rejects.toThrow('had no commit yet')
  })
})

describe("a fork of a task's loop", () => {
  async function started(lines: string) {
    const repository = await makeRepository()
    const place = openPlace({ cwd: repository.dir })
    const task = await place.run('create_task', {
      title: 'Build it',
      agent: place.agent(lines),
      repo: repository.dir,
      worktree: true,
    })
    const { loop } = await place.run('start_loop', { task_id: task.id })
    return { ...place, loop, task: () => place.run('get_task', { task_id: task.id }) }
  }

  test('becomes the loop of the task once the other has ended: accepting its work finishes the task', async () => {
    const place = await started(`date +%N > work.txt; ${CLAIMS}`)
    await place.drive(place.loop)
    const { loop } = await place.run('fork', { loop: place.loop, iteration: 0 })
    expect(await place.task()).toMatchObject({ status: 'in-progress', loop_id: loop })
    await place.drive(loop)
    expect(await place.task()).toMatchObject({ status: 'in-review' })
    await place.run('accept', { loop })
    expect(await place.task()).toMatchObject({ status: 'done', loop_id: loop })
    // A fork of an older loop does not affect the task.
    const { loop: late } = await place.run('fork', { loop: place.loop, iteration: 0 })
    expect((await place.context.store().load(late)).spec.work.owner).toEqual({ kind: 'board' })
    expect(await place.task()).toMatchObject({ status: 'done', loop_id: loop })
  })

  test('does not affect the task while the other one continues', async () => {
    const place = await started('date +%N > work.txt; echo "<ask>Which color?</ask>"')
    await place.drive(place.loop)
    const { loop } = await place.run('fork', { loop: place.loop })
    expect((await place.context.store().load(loop)).spec.work.owner).toEqual({ kind: 'board' })
    expect(await place.task()).toMatchObject({ status: 'in-progress', loop_id: place.loop })
  })
})

describe('the proof of a fork', () => {
  const TEST = { 'test.sh': 'test -e work.txt\n' }
  const CHECK = 'sh test.sh'

  test('does not count what the first loop turned green', async () => {
    const place = await worked(
      { lines: 'echo work > work.txt; echo "Half of it."', checks: [CHECK], iterations: 1 },
      TEST,
    )
    // The first loop completes in its last turn; a fork of its end finds the check green.
    const { loop } = await place.run('fork', { loop: place.first.id, iteration: 1 })
    place.agent(`date +%N > more.txt; ${CLAIMS}`)
    expect((await place.drive(loop)).next).toMatchObject({ kind: 'complete', proof: 'kept' })
  })

  test('is verified for what it turned green itself', async () => {
    const place = await worked(
      { lines: 'date +%N > half.txt; echo "Half of it."', checks: [CHECK], iterations: 1 },
      TEST,
    )
    const { loop } = await place.run('fork', { loop: place.first.id, iteration: 1 })
    place.agent(`echo work > work.txt; ${CLAIMS}`)
    expect((await place.drive(loop)).next).toMatchObject({ kind: 'complete', proof: 'verified' })
  })

  test.each([
    ['a check', { checks: [CHECK] }],
    ['a command that is the task', { until: CHECK }],
  ])('does not rely on tests that the first loop bent: %s', async (_, asked) => {
    const bends = 'echo true > test.sh; date +%N > half.txt; git add -A; git commit -qm Bent; echo "Half of it."'
    const place = await worked({ lines: bends, iterations: 1, ...asked }, TEST)
    expect(place.first.next).not.toMatchObject({ proof: 'verified' })
    const { loop } = await place.run('fork', { loop: place.first.id, iteration: 1, limits: { iterations: 2 } })
    place.agent(`date +%N > more.txt; ${CLAIMS}`)
    const ended = await place.drive(loop)
    expect(ended.next).not.toMatchObject({ proof: 'verified' })
    expect(ended.next).not.toMatchObject({ proof: 'kept' })
    expect(JSON.stringify([ended.tally.findings, ended.next])).toContain('test.sh')
  })
})

describe('a new loop', () => {
  const asked = { prompt: 'Build it', agent: 'command:true' }

  test.each([
    ['a person', {}],
    ['the board', { workers: { take: () => {}, look: () => {} } }],
  ])('of %s in the same folder continues with unfinished changes of a person', async (_, more) => {
    const place = await worked({ iterations: 1 })
    const { loop } = await OPERATIONS.start_loop.run({ ...place.context, ...more }, asked)
    expect((await place.context.store().load(loop)).spec.work.proofBase).toBe(place.first.tally.startTree)
  })

  test('continues with unfinished work although loops in worktrees have worked since', async () => {
    const place = await worked({ iterations: 1 })
    const { loop: beside } = await place.run('start_loop', { ...asked, agent: place.agent(CLAIMS), worktree: true })
    expect((await place.drive(beside)).next.kind).toBe('complete')
    const { loop } = await place.run('start_loop', asked)
    expect((await place.context.store().load(loop)).spec.work.proofBase).toBe(place.first.tally.startTree)
  })
})

describe('a retry', () => {
  test('continues with the files in the folder, and gets an extra message', async () => {
    const place = await worked()
    writeFileSync(join(place.dir, 'mine.txt'), 'mine\n')
    const { loop, from } = await place.run('retry', {
      loop: place.first.id,
      words: 'Use blue.',
      limits: { iterations: 1 },
    })
    expect(from).toBe(place.first.id)
    place.agent(CLAIMS)
    const tried = await place.drive(loop)
    expect(tried.spec).toMatchObject({
      prompt: 'Build it',
      limits: { iterations: 1 },
      work: { dir: place.first.spec.work.dir },
    })
    expect(filesOf(place.dir)).toEqual(['1.txt', '2.txt', 'mine.txt'])
    const { events } = await place.run('list_events', { loop })
    expect(JSON.stringify(events.map(({ next }) => next))).toContain('A person says: Use blue.')
  })

  test('continues in its own worktree with what was left in one, and what a person changed there', async () => {
    const place = await worked({ worktree: true })
    writeFileSync(join(place.work(place.first), 'mine.txt'), 'mine\n')
    await place.run('rollback', { loop: place.first.id, iteration: 1 })
    writeFileSync(join(place.work(place.first), 'mine.txt'), 'mine\n')
    const { loop } = await place.run('retry', { loop: place.first.id })
    place.agent(CLAIMS)
    const tried = await place.drive(loop)
    expect(place.work(tried)).not.toBe(place.work(place.first))
    expect(filesOf(place.work(tried))).toEqual(['1.txt', 'mine.txt'])
    expect(tried.spec.work.proofBase).toBe(place.first.tally.startTree)
    await place.run('accept', { loop })
    expect(filesOf(place.dir)).toEqual(['1.txt', 'mine.txt'])
  })

  test('starts from the last commit if the work was accepted', async () => {
    const place = await worked({ worktree: true })
    await place.run('accept', { loop: place.first.id })
    const { loop } = await place.run('retry', { loop: place.first.id })
    place.agent(CLAIMS)
    expect(filesOf(place.work(await place.drive(loop)))).toEqual(['1.txt', '2.txt'])
  })

  test('that workers run belongs to the board, and is still measured from the start of the first loop', async () => {
    const place = await worked()
    const workers = { take: () => {}, look: () => {} }
    const { loop } = await OPERATIONS.retry.run({ ...place.context, workers }, { loop: place.first.id })
    place.agent(CLAIMS)
    expect((await place.drive(loop)).spec.work).toMatchObject({
      owner: { kind: 'board' },
      proofBase: place.first.tally.startTree,
    })
  })

  const BENDS = 'echo true > test.sh; date +%N > half.txt; echo "Half of it."'

  test('is measured from the start of the first loop although other loops have worked since', async () => {
    const place = await worked({ lines: BENDS, iterations: 1 }, { 'test.sh': 'test -e work.txt\n' })
    const { loop: forked } = await place.run('fork', { loop: place.first.id, limits: { iterations: 1 } })
    await place.drive(forked)
    const { loop: other } = await place.run('start_loop', {
      prompt: 'Something else',
      agent: place.agent(`date +%N > other.txt; ${CLAIMS}`),
    })
    expect((await place.drive(other)).next.kind).toBe('complete')
    const { loop } = await place.run('retry', { loop: place.first.id })
    expect((await place.context.store().load(loop)).spec.work.proofBase).toBe(place.first.tally.startTree)
  })

  test('is measured from the start of a loop that was cancelled in its first turn', async () => {
    const repository = await makeRepository({ 'test.sh': 'test -e work.txt\n' })
    const place = openPlace({ cwd: repository.dir })
    const agent = place.agent('echo true > test.sh; touch bent; sleep 60')
    const { loop: first } = await place.run('start_loop', { prompt: 'Build it', agent, checks: ['sh test.sh'] })
    const driving = place.drive(first)
    while (!existsSync(join(repository.dir, 'bent'))) await new Promise((wake) => setTimeout(wake, 5))
    await place.run('cancel', { loop: first })
    const { tally } = await driving
    const { loop } = await place.run('retry', { loop: first })
    place.agent(`date +%N > more.txt; ${CLAIMS}`)
    const tried = await place.drive(loop)
    expect(tried.spec.work.proofBase).toBe(tally.startTree)
    expect(JSON.stringify([tried.tally.findings, tried.next])).toContain('test.sh')
  })

  test('is the newest loop of its task', async () => {
    const place = await worked()
    const agent = place.agent('date +%N > work.txt; echo "I worked."')
    const task = await place.run('create_task', {
      title: 'Build it',
      agent,
      repo: place.dir,
      worktree: false,
      ralph_max_iterations: 1,
    })
    const { loop } = await place.run('start_loop', { task_id: task.id })
    const { tally } = await place.drive(loop)
    const { loop: again } = await place.run('retry', { loop })
    expect((await place.context.store().load(again)).spec.work).toMatchObject({
      owner: { kind: 'board', task: task.id },
      proofBase: tally.startTree,
    })
    expect(await place.run('get_task', { task_id: task.id })).toMatchObject({ loop_id: again, status: 'in-progress' })
    await place.run('cancel', { loop: again })
    await expect(place.run('retry', { loop })).rejects.toThrow(`has a newer loop, ${again}`)
  })

  test('is refused for a loop that is open or complete', async () => {
    const place = await worked({ lines: `date +%N > x.txt; ${CLAIMS}` })
    await expect(place.run('retry', { loop: place.first.id })).rejects.toThrow(
      `Loop ${place.first.id} is complete, so there is nothing to retry. Continue from its work with \`ralph fork`,
    )
    const { loop } = await place.run('start_loop', { prompt: 'More', agent: place.agent(WORKS) })
    await expect(place.run('retry', { loop })).rejects.toThrow(`Resume it with \`ralph resume ${loop}\``)
  })
})
