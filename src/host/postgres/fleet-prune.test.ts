import { expect, test as vitest } from 'vitest'
import { submissionOf } from '../../fleet/submit.ts'
import type { FleetStore } from '../fleet-store.ts'
import { inPostgres, openTestPlace, postgresMissing } from './postgres.test-support.ts'

const test = vitest.skipIf(await postgresMissing())

const DAY = 24 * 3_600_000

const given = (id: string) => ({ id, prompt: 'Use it.', submitter: 'ada', agent: 'command:x' })

test('what is no longer kept is removed with its loops, transcripts and secrets; what others need stays', async () => {
  const { url, connect } = await openTestPlace()
  const { fleet } = connect() as FleetStore // as every store in Postgres is
  const now = await fleet.now()
  const [over, open] = await Promise.all([submissionOf(given('over'), now), submissionOf(given('open'), now)])
  await fleet.submit([over, open])
  await fleet.change('over', { state: 'failed' })
  const sql = `INSERT INTO ralph.transcript SELECT id, 1, 0, 1, 'x' FROM ralph.loop;
    INSERT INTO ralph.fleet_secret VALUES ('of-open', 'a', ${now}), ('of-nobody', 'b', ${now - 40 * DAY})`
  await inPostgres(url, sql)
  const left = async (table: string, column: string) =>
    (await inPostgres(url, `SELECT ${column} AS it FROM ralph.${table} ORDER BY 1`)).map(({ it }) => it)

  expect(await fleet.prune(now - 30 * DAY)).toBe(0)
  expect(await left('fleet_secret', 'id')).toEqual(['of-open'])
  expect(await fleet.prune(now + DAY)).toBe(1)
  expect(await left('loop', 'id')).toEqual([open.loop.id])
  expect(await left('transcript', 'loop')).toEqual([open.loop.id])
  expect(await left('fleet_secret', 'id')).toEqual(['of-open'])
  await fleet.change('open', { state: 'cancelled' })
  expect(await fleet.prune(now + DAY)).toBe(1)
  expect(await left('fleet_secret', 'id')).toEqual([])
})
