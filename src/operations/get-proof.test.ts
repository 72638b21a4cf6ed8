import { expect, test } from 'vitest'
import { makeRepository } from '../host/repository.test-support.ts'
import { openPlace } from './place.test-support.ts'

const DONE = 'echo "<promise>COMPLETE</promise>"'

test('shows the check before and after, and the files it saw', async () => {
  const repository = await makeRepository()
  const place = openPlace({ cwd: repository.dir })
  const agent = place.agent(`echo done > done.txt; git add --all; git commit --quiet --message Done; ${DONE}`)
  const { loop } = await place.run('start_loop', { prompt: 'Build it', agent, checks: ['test -f done.txt'] })
  await place.drive(loop)
  const [commit, tree, start] = ['HEAD', 'HEAD^{tree}', 'HEAD~1'].map((name) => repository.git('rev-parse', name))
  expect(await place.run('get_proof', {})).toEqual({
    loop,
    status: 'completed',
    grade: 'verified',
    sentence: '`test -f done.txt` failed before the loop began and passes now.',
    experiments: 'full',
    dir: repository.dir,
    iterations: 1,
    at: expect.any(Number),
    seen: { tree, head: commit, commit },
    start: { tree: repository.git('rev-parse', 'HEAD~1^{tree}'), head: start, commit: start },
    checks: [
      {
        check: 'test -f done.txt',
        before: { check: 'test -f done.txt', result: 'fail' },
        after: { check: 'test -f done.txt', result: 'pass' },
      },
    ],
    findings: [],
    allowed: [],
    flaky: [],
  })
})

test('names no commit that does not contain these files', async () => {
  const place = openPlace({ cwd: (await makeRepository()).dir })
  const agent = place.agent(`echo done > done.txt; ${DONE}`)
  const { loop } = await place.run('start_loop', { prompt: 'Build it', agent, checks: ['test -f done.txt'] })
  await place.drive(loop)
  const { seen } = await place.run('get_proof', { loop })
  expect(seen).toEqual({ tree: expect.any(String), head: expect.any(String) })
})

test("says what would be better than the agent's word", async () => {
  const place = openPlace()
  const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent(`date > a.txt; ${DONE}`) })
  const before = await place.run('get_proof', { loop })
  expect(before).toMatchObject({ status: 'running', sentence: expect.stringContaining('running'), checks: [] })
  expect(before).not.toHaveProperty('grade')
  await place.drive(loop)
  expect(await place.run('get_proof', { loop })).toMatchObject({
    grade: 'claimed',
    advice: 'For a better grade, add a check: --verify "npm test"',
    seen: { tree: expect.stringMatching(/^[0-9a-f]{16}$/) },
  })
})

test('a command that passes before any work keeps that verdict', async () => {
  const place = openPlace({ cwd: (await makeRepository()).dir })
  const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent(DONE), until: 'true' })
  await place.drive(loop)
  const { checks, iterations } = await place.run('get_proof', { loop })
  expect(checks).toMatchObject([{ before: { result: 'pass' }, after: { result: 'pass' } }])
  expect(iterations).toBe(0)
})

test('says that the files have changed since the checks ran', async () => {
  const place = openPlace({ cwd: (await makeRepository()).dir })
  const agent = place.agent(
    `date +%N > work.txt; [ "$RALPH_ITERATION" = 1 ] && ${DONE} || echo "<ask>Which one?</ask>"`,
  )
  const { loop } = await place.run('start_loop', { prompt: 'Build it', agent, checks: ['false'] })
  expect((await place.drive(loop)).next.kind).toBe('wait')
  const { stale, seen, checks } = await place.run('get_proof', { loop })
  expect({ stale, checks }).toMatchObject({ stale: true, checks: [{ after: { result: 'fail' } }] })
  const [, checked] = (await place.run('list_events', { loop })).events.filter(({ fact }) => fact.kind === 'checked')
  expect(checked?.fact).toMatchObject({ tree: expect.stringContaining(seen?.tree ?? 'none') })
})
