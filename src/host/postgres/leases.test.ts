import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test as vitest } from 'vitest'
import { works } from '../../engine/stories.test-support.ts'
import { eventually, source, startScript, temporaryFolder } from '../place.test-support.ts'
import type { Store } from '../store.ts'
import { granted, loopOf, move, storyIn } from '../store-contract/scene.ts'
import { openTestPlace, postgresMissing } from './postgres.test-support.ts'

const test = vitest.skipIf(await postgresMissing())
const LEASE_MS = 600

const taken = async (store: Store) => {
  const answer = await store.lease('a1')
  return 'epoch' in answer ? answer : undefined
}

describe('a lease in Postgres', () => {
  test('lives on while its holder keeps its promise, and each renewal is reported', async () => {
    const { connect } = await openTestPlace({ leaseMs: LEASE_MS })
    const beats: string[] = []
    const [store, other] = [connect({ beat: (loop) => beats.push(loop) }), connect()]
    await store.create(loopOf('a1'))
    const lease = granted(await store.lease('a1'))
    lease.expect?.(60_000)
    await eventually(() => beats.length > 5) // far longer than an unrenewed lease
    expect([await taken(other), lease.lost.aborted]).toEqual([undefined, false])
    expect(new Set(beats)).toEqual(new Set(['a1']))
  })

  test('goes to the next one when its holder is silent past its promise, although its process lives', async () => {
    const { connect } = await openTestPlace({ leaseMs: LEASE_MS })
    const [store, other] = [connect(), connect()]
    await store.create(loopOf('a1'))
    const old = granted(await store.lease('a1'))
    old.expect?.(0)
    const lease = await eventually(() => taken(other))
    expect(lease.epoch).toBe(2)
    await eventually(() => old.lost.aborted) // even if nobody listens for changes
    const { loop, fact } = move(await store.load('a1'), works)
    await expect(store.save(old, loop, fact)).rejects.toMatchObject({ code: 'lease-lost' })
    await other.save(lease, loop, fact)
  })

  test('is renewed by a save, which is a sign of life', async () => {
    const { connect } = await openTestPlace({ leaseMs: LEASE_MS })
    const beats: string[] = []
    const [store, other] = [connect({ beat: (loop) => beats.push(loop) }), connect()]
    await store.create(loopOf('a1'))
    const lease = granted(await store.lease('a1'))
    lease.expect?.(0)
    const { loop, fact } = move(await store.load('a1'), works)
    await store.save(lease, loop, fact)
    await eventually(() => beats.length > 5)
    expect(await taken(other)).toBeUndefined()
  })

  test('of a stopped process is lost, and the process learns so when it continues', async () => {
    const { url, connect } = await openTestPlace({ leaseMs: LEASE_MS })
    const store = connect()
    await store.create(loopOf('a1'))
    const opening = JSON.stringify({ url, home: temporaryFolder(), leaseMs: LEASE_MS })
    const holder = startScript(`const { openPostgres } = await import(${source('host/postgres/store.ts')})
      const store = openPostgres({ ...${opening}, now: Date.now })
      const lease = await store.lease('a1')
      lease.lost.addEventListener('abort', () => { console.log('lost'); process.exit() })
      setInterval(() => {}, 1_000) // as whatever it does would keep it
      console.log('leased')`)
    await eventually(() => holder.lines().includes('leased'))
    process.kill(holder.pid, 'SIGSTOP')
    await eventually(() => taken(store))
    process.kill(holder.pid, 'SIGCONT')
    expect(await holder.ended).toMatchObject({ code: 0, err: '' })
    expect(holder.lines()).toEqual(['leased', 'lost'])
  })

  test('of a killed process of this machine is free at once', async () => {
    const { url, connect } = await openTestPlace({ leaseMs: LEASE_MS })
    const store = connect()
    await store.create(loopOf('a1'))
    const opening = JSON.stringify({ url, home: temporaryFolder(), leaseMs: 3_600_000 })
    const holder = startScript(`const { openPostgres } = await import(${source('host/postgres/store.ts')})
      await openPostgres({ ...${opening}, now: Date.now }).lease('a1')
      console.log('leased')
      setInterval(() => {}, 1_000)`)
    await eventually(() => holder.lines().includes('leased'))
    expect(await taken(store)).toBeUndefined()
    process.kill(holder.pid, 'SIGKILL')
    await holder.ended
    expect(await taken(store)).toMatchObject({ epoch: 2 })
  })

  test('is given back when its store is closed', async () => {
    const { connect } = await openTestPlace({ leaseMs: LEASE_MS })
    const [store, other] = [connect({ leaseMs: 60_000 }), connect()]
    await store.create(loopOf('a1'))
    granted(await store.lease('a1'))
    await store.close()
    expect(await taken(other)).toBeDefined()
  })
})

describe('events in Postgres', () => {
  test('get no number before those of an open transaction, so that no resuming reader misses them', async () => {
    const { url, connect } = await openTestPlace({ leaseMs: LEASE_MS })
    const { Client } = await import('pg')
    const store = connect()
    await storyIn(store, 'a1', {}, works)
    await storyIn(store, 'a2', {}, works)
    const first = new Client(url)
    await first.connect()
    await first.query('SET search_path = ralph; BEGIN')
    await first.query(
      `WITH given AS (UPDATE counter SET n = n + 1 WHERE name = 'event' RETURNING n) INSERT INTO event
       SELECT (SELECT n FROM given), loop, 2, at, fact, next, brief, comments FROM event WHERE loop = 'a1'`,
    )
    const second = storyIn(store, 'a3', {}, works)
    const seen = async () => (await store.events(0)).map(({ seq, loop }) => [seq, loop])
    // It waits for the first one, as long as that is open.
    await eventually(async () => (await store.newLoops(2)).length)
    await sleep(50)
    expect(await seen()).toEqual([
      [1, 'a1'],
      [2, 'a2'],
    ])
    await first.query('COMMIT')
    await second
    await first.end()
    expect((await seen()).slice(2)).toEqual([
      [3, 'a1'],
      [4, 'a3'],
    ])
  })
})

describe('a lock in Postgres', () => {
  test('is held by one process among all machines, until that has ended', async () => {
    const { connect } = await openTestPlace({ leaseMs: LEASE_MS })
    const [store, other] = [connect(), connect()]
    const [mine, theirs] = [store.locks.open('workers'), other.locks.open('workers')]
    expect(await other.locks.isHeld('workers')).toBe(false)
    expect([await mine.hold(), await mine.hold(), await theirs.hold()]).toEqual([true, true, false])
    expect([await other.locks.isHeld('workers'), await other.locks.isHeld('others')]).toEqual([true, false])
    await store.close()
    await eventually(() => theirs.hold())
    await theirs.close()
    expect(await other.locks.isHeld('workers')).toBe(false)
  })
})
