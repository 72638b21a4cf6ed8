import { existsSync } from 'node:fs'
import { expect, test as vitest } from 'vitest'
import { works } from '../../engine/stories.test-support.ts'
import { eventually, source, startScript, temporaryFolder } from '../place.test-support.ts'
import type { Store } from '../store.ts'
import { granted, loopOf, move } from '../store-contract/scene.ts'
import { readTurnLog, type TurnEntry } from '../transcript.ts'
import { readSpan } from '../transcript-span.ts'
import { inPostgres, openTestPlace, postgresMissing } from './postgres.test-support.ts'

const test = vitest.skipIf(await postgresMissing())

async function entriesOf({ transcripts }: Store, iteration = 1): Promise<TurnEntry[]> {
  const entries: TurnEntry[] = []
  for await (const entry of readTurnLog(transcripts, 'a1', iteration)) entries.push(entry)
  return entries
}

test('what was said can be read on every machine, and its file is removed once it is uploaded', async () => {
  const { connect } = await openTestPlace({ now: () => 5 })
  const [store, other] = [connect(), connect()]
  const log = store.transcripts.openTurn('a1', 1)
  log.write([{ at: 1, attempt: 1, prompt: 'Do it.\0 🦉', command: ['agent'] }])
  await log.arrived?.()
  expect(await entriesOf(other)).toEqual([{ at: 1, attempt: 1, prompt: 'Do it.\0 🦉', command: ['agent'] }])
  for (const out of ['one\n', 'two\n']) log.write([{ out }])
  log.close()
  expect(await entriesOf(store)).toHaveLength(3)
  expect(await entriesOf(other)).toEqual(await entriesOf(store))
  await eventually(() => !existsSync(log.path))
})

test('is uploaded while the agent works', async () => {
  const { connect } = await openTestPlace({ now: () => 5 })
  const [store, other] = [connect(), connect()]
  const log = store.transcripts.openTurn('a1', 1)
  log.write([{ out: 'one\n' }])
  await eventually(async () => (await other.transcripts.size('a1', 1)) > 0)
  log.close()
})

test('an attempt on another machine continues after the previous one', async () => {
  const { connect } = await openTestPlace({ now: () => 5 })
  const stores = [connect(), connect()]
  for (const [n, store] of stores.entries()) {
    const log = store.transcripts.openTurn('a1', 1)
    log.write([{ at: n, attempt: n + 1, prompt: 'p', command: [] }, { out: 'x'.repeat(300_000) }])
    log.close()
    await entriesOf(store)
  }
  const attempts = (await entriesOf(connect())).flatMap((entry) => ('attempt' in entry ? [entry.attempt] : []))
  expect(attempts).toEqual([1, 2])
})

test('is stored before its turn is saved', async () => {
  const { connect } = await openTestPlace({ now: () => 5 })
  const [store, other] = [connect(), connect()]
  await store.create(loopOf('a1'))
  const lease = granted(await store.lease('a1'))
  const log = store.transcripts.openTurn('a1', 1)
  log.write([{ out: 'the end\n' }])
  log.close()
  const { loop, fact } = move(await store.load('a1'), works)
  await store.save(lease, loop, fact)
  expect(await entriesOf(other)).toEqual([{ out: 'the end\n' }])
})

test('is read in parts, from any byte, as from a file', async () => {
  const { connect } = await openTestPlace({ now: () => 5 })
  const store = connect()
  const log = store.transcripts.openTurn('a1', 1)
  for (let n = 0; n < 50; n++) {
    log.write([{ out: `${n} ${'🦉'.repeat(4_000)}\n` }])
    if (n % 7 === 0) await log.arrived?.() // pieces of several sizes
  }
  log.close()
  const { transcripts } = connect()
  const size = await store.transcripts.size('a1', 1)
  expect(await transcripts.size('a1', 1)).toBe(size)
  const whole = Buffer.concat(await partsOf(transcripts, 0))
  expect(whole).toHaveLength(size)
  for (const from of [1, 16_100, 262_143, 262_144, size - 1])
    expect(Buffer.concat(await partsOf(transcripts, from)).equals(whole.subarray(from))).toBe(true)
  expect(await transcripts.read('a1', 1, size)).toEqual({ bytes: new Uint8Array(), next: size })
  const span = await readSpan(transcripts, { loop: 'a1', iteration: 1, from: size - 100, to: size })
  expect([span.entries, span.next]).toEqual([[], size])
})

async function partsOf({ read }: Store['transcripts'], start: number): Promise<Uint8Array[]> {
  const parts: Uint8Array[] = []
  for (let from = start; ; ) {
    const { bytes, next } = await read('a1', 1, from)
    if (next === from) return parts
    parts.push(bytes)
    from = next
  }
}

test('takes no more space than allowed, and says what was left out; attempts are known nevertheless', async () => {
  const { url, connect } = await openTestPlace({ now: () => 5 })
  const store = connect({ transcriptMb: 0.3 })
  const log = store.transcripts.openTurn('a1', 1)
  for (let n = 0; n < 10; n++) {
    log.write([{ at: n, attempt: n, prompt: 'p', command: [] }, { out: `${n}${'x'.repeat(99_999)}` }])
    await log.arrived?.()
  }
  log.close()
  const entries = await entriesOf(store)
  expect(entries.filter((entry) => 'out' in entry)).toHaveLength(2)
  expect(entries.filter((entry) => 'attempt' in entry)).toHaveLength(10)
  await eventually(async () => (await entriesOf(store)).some((entry) => 'dropped' in entry))
  expect((await entriesOf(store)).filter((entry) => 'limitMb' in entry)).toEqual([
    { at: 5, limitMb: 0.3 },
    { at: 5, limitMb: 0.3, dropped: expect.any(Number) },
  ])
  const [row] = await inPostgres(url, 'SELECT sum(length(data)) AS bytes FROM ralph.transcript')
  expect(Number(row?.bytes)).toBeLessThan(10_000)
})

test('is removed with loops that ended long ago', async () => {
  const { connect } = await openTestPlace({ now: () => 5 })
  const store = connect()
  for (const id of ['a1', 'a2']) {
    await store.create(loopOf(id))
    for (const n of [1, 2]) {
      const log = store.transcripts.openTurn(id, n)
      log.write([{ out: 'words\n' }])
      log.close()
    }
    await store.transcripts.size(id, 2)
  }
  expect(await store.transcripts.prune(new Set(['a1']), 0)).toBe(0)
  expect(await store.transcripts.prune(new Set(['a1']), Date.now())).toBe(2)
  expect([await store.transcripts.size('a1', 1), await store.transcripts.size('a2', 1)]).toEqual([0, 18])
})

test('a closed store has uploaded all of it', async () => {
  const { url, connect } = await openTestPlace({ now: () => 5 })
  const opening = JSON.stringify({ url, home: temporaryFolder() })
  const writer = startScript(`const { openPostgres } = await import(${source('host/postgres/store.ts')})
    const store = openPostgres({ ...${opening}, now: Date.now })
    const log = store.transcripts.openTurn('a1', 1)
    for (let n = 0; n < 100; n++) log.write([{ out: n + '\\n' }])
    log.close()
    await store.close()`)
  expect(await writer.ended).toMatchObject({ code: 0, err: '' })
  expect(await entriesOf(connect())).toHaveLength(100)
})
