import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { askGit, must } from '../host/git.ts'
import { postgresMissing } from '../host/postgres/postgres.test-support.ts'
import { openFleet } from './fleet.test-support.ts'

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

  test('pushes the work of each iteration to a branch of its own, and leaves nothing behind', async () => {
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
    expect(must(await askGit(repo, ['for-each-ref', '--format=%(refname)', 'refs/ralph']))).toBe('')
    worker.drain()
    await worker.ended
    const worktrees = join(worker.home, 'worktrees')
    expect(existsSync(worktrees) ? readdirSync(worktrees) : []).toEqual([])
  })
})
