import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually, temporaryFolder } from '../host/place.test-support.ts'
import { OPERATIONS } from './index.ts'
import { openPlace } from './place.test-support.ts'

const ms = expect.any(Number)

test('checks run one after the other, and show their output', async () => {
  const place = openPlace()
  writeFileSync(
    join(place.cwd, 'test.sh'),
    '#!/bin/sh\necho "Tests: 2 failed, 3 passed, 5 total"; touch ran; exit 1\n',
    {
      mode: 0o755,
    },
  )
  const { dir, ran } = await place.run('try_checks', {
    checks: ['test -e ran', './test.sh', 'test -e ran', 'nowhere --x'],
  })
  expect(dir).toBe(realpathSync(place.cwd))
  expect(ran).toEqual([
    { check: 'test -e ran', result: 'fail', tail: '(no output; exit code 1)', ms },
    { check: './test.sh', result: 'fail', failures: 2, tests: 5, tail: 'Tests: 2 failed, 3 passed, 5 total\n', ms },
    // A duplicate check runs once.
    { check: 'nowhere --x', result: 'broken', tail: '"nowhere" was not found.', ms },
  ])
})

test('checks run without a shell', async () => {
  const place = openPlace()
  const shell = { checks: ['touch first', 'echo one && touch two'] }
  await expect(place.run('try_checks', shell)).rejects.toMatchObject({ code: 'usage' })
  expect(existsSync(join(place.cwd, 'first'))).toBe(false)
  const { ran } = await place.run('try_checks', { checks: ["echo 'one && touch two'"] })
  expect(ran).toMatchObject([{ result: 'pass', tail: 'one && touch two\n' }])
  expect(existsSync(join(place.cwd, 'two'))).toBe(false)
})

test('a check that takes too long is stopped', async () => {
  const { ran } = await openPlace().run('try_checks', { checks: ['sleep 60'], minutes: 0.002 })
  expect(ran).toMatchObject([{ result: 'timeout' }])
})

test('"auto" finds the checks of the folder', async () => {
  const place = openPlace()
  const auto = { checks: ['auto'] }
  await expect(place.run('try_checks', auto)).rejects.toMatchObject({ code: 'usage' })
  writeFileSync(join(place.cwd, 'Makefile'), 'test:\n\t@echo fine\n')
  expect((await place.run('try_checks', auto)).ran).toMatchObject([{ check: 'make test', result: 'pass' }])
})

test('they run in the given folder, or that of the task, or of its group', async () => {
  const place = openPlace()
  const [own, groups] = [temporaryFolder(), temporaryFolder()].map((dir) => realpathSync(dir))
  await place.run('set_group', { project_id: 'shop', repo: groups })
  const { id: mine } = await place.run('create_task', { title: 'Mine', repo: own, project_id: 'shop' })
  const { id: ours } = await place.run('create_task', { title: 'Ours', project_id: 'shop' })
  const { id: plain } = await place.run('create_task', { title: 'Plain' })
  const dirOf = async (where: object) => (await place.run('try_checks', { ...where, checks: ['pwd'] })).ran[0]?.tail
  expect(await dirOf({ task_id: mine })).toBe(`${own}\n`)
  expect(await dirOf({ task_id: ours })).toBe(`${groups}\n`)
  expect(await dirOf({ task_id: plain })).toBe(`${realpathSync(place.cwd)}\n`)
  mkdirSync(join(place.cwd, 'sub'))
  expect(await dirOf({ dir: 'sub', task_id: mine })).toBe(`${realpathSync(join(place.cwd, 'sub'))}\n`)
})

test('a missing folder or task is reported', async () => {
  const place = openPlace()
  await expect(place.run('try_checks', { dir: 'nowhere', checks: ['true'] })).rejects.toMatchObject({
    message: `${join(place.cwd, 'nowhere')} is not a folder. Name one that exists.`,
    field: 'dir',
  })
  await expect(place.run('try_checks', { task_id: 'nobody', checks: ['true'] })).rejects.toMatchObject({
    code: 'task-unknown',
  })
})

test('they stop when the caller is gone', async () => {
  const place = openPlace()
  const gone = new AbortController()
  writeFileSync(join(place.cwd, 'slow.sh'), '#!/bin/sh\ntouch second; exec sleep 600\n', { mode: 0o755 })
  const checks = ['touch first', './slow.sh', 'touch last']
  const trying = OPERATIONS.try_checks.run({ ...place.context, cwd: place.cwd, signal: gone.signal }, { checks })
  await eventually(() => existsSync(join(place.cwd, 'second')))
  gone.abort()
  expect((await trying).ran).toMatchObject([{ check: 'touch first', result: 'pass' }])
  expect(existsSync(join(place.cwd, 'last'))).toBe(false)
})

test('an agent inside a loop cannot use them', async () => {
  const place = openPlace()
  const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent('true') })
  const inside = { ...place.context, cwd: place.cwd, env: { ...place.context.env, RALPH_LOOP_ID: loop } }
  await expect(OPERATIONS.try_checks.run(inside, { checks: ['touch here'] })).rejects.toMatchObject({
    code: 'below-turn',
  })
  expect(existsSync(join(place.cwd, 'here'))).toBe(false)
})
