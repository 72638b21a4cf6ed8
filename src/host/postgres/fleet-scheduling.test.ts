import { expect, test as vitest } from 'vitest'
import { submissionOf } from '../../fleet/submit.ts'
import type { FleetStore } from '../fleet-store.ts'
import { inPostgres, openTestPlace, postgresMissing } from './postgres.test-support.ts'

const test = vitest.skipIf(await postgresMissing())

const MANY = 2_000

test('a pass over many tasks of many submitters sees the first of each, and releases them all', async () => {
  const { url, connect } = await openTestPlace()
  const { fleet } = connect() as FleetStore // as every store in Postgres is
  const given = { prompt: 'Do it.', agent: 'command:x' }
  const all = Array.from({ length: MANY }, (_, n) =>
    submissionOf(
      { ...given, id: `t${n}`, submitter: ['ada', 'ben', 'cy'][n % 3] ?? '', priority: n === 900 ? 1 : 0 },
      n,
    ),
  )
  await fleet.submit(await Promise.all(all))
  const { ready } = await fleet.view()
  expect(Map.groupBy(ready, ({ submitter }) => submitter).size).toBe(3)
  expect(ready).toHaveLength(300)
  expect(ready.map(({ id }) => id)).toContain('t900') // which is ada's first
  const queue = { name: 'all', agents: ['command'], labels: [] }
  const released = await fleet.pass('here', () => all.map((_, n) => ({ task: `t${n}`, queue, reserveUsd: 0 })))
  expect(released).toBe(MANY)
  expect(await fleet.counts()).toEqual({ released: MANY })
  expect(await inPostgres(url, 'SELECT count(*)::integer AS n FROM ralph.fleet_share')).toEqual([{ n: 3 }])
})
