import { afterAll, describe, expect, onTestFinished, test as vitest } from 'vitest'
import { works } from '../../engine/stories.test-support.ts'
import { eventually, temporaryFolder } from '../place.test-support.ts'
import type { Store } from '../store.ts'
import { granted, loopOf, move, upTo } from '../store-contract/scene.ts'
import { onNotice } from '../waiting.ts'
import { postgresMissing } from './postgres.test-support.ts'
import { startPostgres, type TestServer } from './server.test-support.ts'
import { type Opening, openPostgres } from './store.ts'

const test = vitest.skipIf(await postgresMissing())

/** A separate one, since it is stopped; each test leaves it running. */
let shared: Promise<TestServer> | undefined
afterAll(async () => (await shared)?.remove())

let schemas = 0

async function openTrouble(
  more: Partial<Opening> = {},
): Promise<{ server: TestServer; store: Store; notes: string[] }> {
  shared ??= startPostgres({ synchronous_commit: 'on' }) // what was committed survives a crash
  const server = await shared
  const store = openPostgres({
    url: `${server.url}?schema=trouble_${++schemas}`,
    home: temporaryFolder(),
    now: Date.now,
    ...more,
  })
  const notes: string[] = []
  const silent = onNotice((text) => notes.push(text))
  onTestFinished(async () => {
    silent()
    await store.close()
  })
  return { server, store, notes }
}

describe('a store whose Postgres', () => {
  test.each(['SIGQUIT', 'SIGINT'] as const)(
    'is restarted (%s) again and again loses nothing, and writes nothing twice',
    async (signal) => {
      const { server, store } = await openTrouble()
      await store.create(loopOf('a1', {}))
      const lease = granted(await store.lease('a1'))
      const writing = (async () => {
        for (let n = 0; n < 60; n++) {
          const { loop, fact } = move(await store.load('a1'), works)
          await store.save(lease, loop, fact)
        }
      })()
      for (const restart of [10, 25, 40]) {
        await eventually(async () => (await store.events(0, 'a1')).length >= restart)
        await server.stop(signal)
        await server.start()
      }
      await writing
      expect((await store.events(0, 'a1')).map(({ n }) => n)).toEqual(upTo(60))
      expect((await store.iterations('a1')).map(({ n }) => n)).toEqual(upTo((await store.load('a1')).tally.iteration))
      expect(lease.lost.aborted).toBe(false)
    },
  )

  test('is unreachable waits for it, and says so', async () => {
    const { server, store, notes } = await openTrouble()
    await store.create(loopOf('a1'))
    await server.stop()
    const loaded = store.load('a1')
    await eventually(() => notes.length)
    expect(notes).toEqual(['The database cannot be reached. Waiting for it.'])
    await server.start()
    expect((await loaded).id).toBe('a1')
  })

  test('stays unreachable throws a sentence when it stops waiting', async () => {
    const { server, store } = await openTrouble({ patienceMs: 300 })
    await store.create(loopOf('a1'))
    await server.stop()
    await expect(store.load('a1')).rejects.toMatchObject({ name: 'RalphError', code: 'database-unreachable' })
    await server.start()
  })

  test('comes back notifies listeners of what they have missed', async () => {
    const { server, store } = await openTrouble()
    await store.create(loopOf('a1'))
    let heard = 0
    onTestFinished(store.onChange(() => heard++))
    await eventually(() => heard)
    await server.stop()
    await server.start()
    await store.tell('a1', 'Ada', { kind: 'pause' })
    const before = heard
    await eventually(() => heard > before + 2)
  })
})
