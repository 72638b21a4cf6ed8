import { expect, test } from 'vitest'
import { openPlace } from './place.test-support.ts'

const WORKS = 'echo x >> work.txt'

test('a program resumes a loop that halted on a limit', async () => {
  const place = openPlace()
  const asked = { prompt: 'Build it', agent: place.agent(WORKS), limits: { iterations: 1 } }
  const { loop } = await place.run('start_loop', asked)
  expect((await place.drive(loop)).next).toMatchObject({ kind: 'halt', reason: 'max-iterations' })
  expect(await place.run('resume', { loop, limits: { iterations: 3 } })).toEqual({ loop, heard: 'nobody' })
  expect(await place.run('get_loop', { loop })).toMatchObject({ status: 'running', unattended: true })
  const { next, tally } = await place.drive(loop)
  expect([next, tally.iteration]).toMatchObject([{ kind: 'halt', reason: 'max-iterations' }, 3])
})

test('an open loop gets the limits, and resumes as usual', async () => {
  const place = openPlace()
  const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent(WORKS) })
  expect(await place.run('resume', { loop, limits: { iterations: 2 } })).toEqual({ loop, heard: 'nobody' })
  expect((await place.drive(loop)).tally.iteration).toBe(2)
})

test('a limit that the agent cannot enforce is refused', async () => {
  const place = openPlace()
  const asked = { prompt: 'Build it', agent: place.agent(WORKS), limits: { iterations: 1 } }
  const { loop } = await place.run('start_loop', asked)
  await place.drive(loop)
  await expect(place.run('resume', { loop, limits: { costUsd: 5 } })).rejects.toMatchObject({ code: 'usage' })
})
