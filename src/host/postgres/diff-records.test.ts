import { expect, test as vitest } from 'vitest'
import type { DiffRecords, Store } from '../store.ts'
import { granted, loopOf } from '../store-contract/scene.ts'
import { inPostgres, openTestPlace, postgresMissing } from './postgres.test-support.ts'

const test = vitest.skipIf(await postgresMissing())

const diffsOf = ({ diffs }: Store) => diffs as DiffRecords // of Postgres

const TEXT = `diff --git a/ä.txt b/ä.txt\n+a\0b 🦉\n${'+the same\n'.repeat(1_000)}`
const STATE = { iteration: 1, commit: 'c1', tree: 't1' }

test('a stored diff reads the same on every machine, and takes little space', async () => {
  const { url, connect } = await openTestPlace({ now: () => 5 })
  const [store, other] = [connect(), connect()]
  await store.create(loopOf('a1'))
  const lease = granted(await store.lease('a1'))
  const previous = { from: 'c0', text: TEXT, left: 0 }
  const start = { from: 'c0', text: '', left: 7 }
  await diffsOf(store).keep(lease, { iteration: 0, commit: 'c0', tree: 't0', head: 'c0' })
  await diffsOf(store).keep(lease, { ...STATE, previous, start })
  expect(await diffsOf(other).states('a1')).toEqual([{ iteration: 0, commit: 'c0', tree: 't0', head: 'c0' }, STATE])
  expect(await diffsOf(other).load('a1', 1, 'previous')).toEqual(previous)
  expect(await diffsOf(other).load('a1', 1, 'start')).toEqual(start)
  for (const iteration of [0, 2]) expect(await diffsOf(other).load('a1', iteration, 'previous')).toBeUndefined()
  const [row] = await inPostgres(url, 'SELECT sum(length(previous)) AS bytes FROM ralph.kept_diff')
  expect(Number(row?.bytes)).toBeLessThan(300)
})

test('the last one counts, and a worker that was taken over stores nothing', async () => {
  const { connect } = await openTestPlace({ now: () => 5 })
  const [store, other] = [connect(), connect()]
  await store.create(loopOf('a1'))
  const late = granted(await store.lease('a1'))
  await late.release()
  const lease = granted(await other.lease('a1'))
  const diff = (text: string) => ({ ...STATE, previous: { from: 'c0', text, left: 0 } })
  for (const text of ['first', 'again']) await diffsOf(other).keep(lease, diff(text))
  await diffsOf(store).keep(late, diff('late'))
  expect(await diffsOf(store).load('a1', 1, 'previous')).toMatchObject({ text: 'again' })
  expect(await diffsOf(store).states('a1')).toEqual([STATE])
})

test('is removed with loops that ended long ago, and with their rows', async () => {
  const { url, connect } = await openTestPlace({ now: () => 5 })
  const store = connect()
  for (const id of ['a1', 'a2']) {
    await store.create(loopOf(id))
    const lease = granted(await store.lease(id))
    for (const iteration of [0, 1]) await diffsOf(store).keep(lease, { ...STATE, iteration })
  }
  expect(await diffsOf(store).prune(new Set(['a1']), 0)).toBe(0)
  expect(await diffsOf(store).prune(new Set(['a1']), Date.now())).toBe(2)
  expect([await diffsOf(store).states('a1'), await diffsOf(store).states('a2')]).toMatchObject([[], [{}, {}]])
  await inPostgres(url, `DELETE FROM ralph.loop WHERE id = 'a2'`)
  expect(await diffsOf(store).states('a2')).toEqual([])
})
