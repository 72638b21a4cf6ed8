import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { works } from '../../engine/stories.test-support.ts'
import { drawChance } from '../../host/chance.test-support.ts'
import { eventually } from '../../host/place.test-support.ts'
import type { Store } from '../../host/store.ts'
import { loopOf, storyIn } from '../../host/store-contract/scene.ts'
import { BEGINNING, breaking, namesOf, openLivePlace, type Seen, upToEvent } from './live.test-support.ts'

const { runs, seed } = drawChance({ runs: 12, seed: 1 })
const PANE = { crew: 'c1', name: 'ada' }
const group = (n: number) => ({ project_id: `g${n}`, name: `Group ${n}`, repo: null }) as never

describe('a reader', () => {
  test('gets a greeting, then everything that happens from now on, by whomever', async () => {
    const { store, read, now, start } = await openLivePlace()
    await storyIn(store, 'early', {}, works)
    const cursor = await now()
    expect(cursor).toBe('1.0.0.1')
    const reading = read({ after: cursor }, upToEvent(3))
    const writer = start(`await store.create(loopOf('late'))
      const lease = await store.lease('late')
      await save(lease)
      await save(lease)
      process.exit()`)
    const seen = await reading
    expect(await writer.ended).toMatchObject({ code: 0, err: '' })
    expect(seen[0]).toMatchObject({ cursor, message: { type: 'hello', data: { cursor } } })
    expect(namesOf(seen)).toEqual(['loop-start 2', 'loop-event 2', 'loop-event 3'])
    expect(seen[1]?.message).toMatchObject({ loop: 'late', data: { prompt: expect.any(String), owner: 'person' } })
    expect(seen[3]?.message).toMatchObject({
      loop: 'late',
      data: { n: 2, status: 'running', fact: { kind: 'turned' }, next: { kind: 'turn', iteration: 3 } },
    })
  })

  test('gets the board and panes in the same stream', async () => {
    const { store, read } = await openLivePlace()
    await store.board.saveGroup(group(1))
    await store.panes.save(PANE, {}, { change: { state: 'WORKING', loop: 'a1' } })
    const seen = await read({ after: BEGINNING }, ({ length }) => length === 3)
    expect(seen.slice(1).map(({ message }) => message)).toEqual([
      { seq: 1, at: expect.any(Number), type: 'task-change', data: { kind: 'group', group: group(1) } },
      {
        seq: 1,
        at: expect.any(Number),
        type: 'pane-change',
        loop: 'a1',
        data: { ...PANE, change: { state: 'WORKING', loop: 'a1' } },
      },
    ])
  })

  test('continues exactly after any message', async () => {
    const { store, read, now } = await openLivePlace()
    await fillWithAll(store, 12)
    await now()
    const all = await read({ after: BEGINNING }, ({ length }) => length === 1 + 4 * 12)
    expect(new Set(namesOf(all)).size).toBe(48)
    const last = all.at(-1)?.cursor
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: all.length - 2 }), async (cut) => {
        const seen = await read({ after: all[cut]?.cursor ?? '' }, (rest) => rest.at(-1)?.cursor === last)
        expect(namesOf(seen)).toEqual(namesOf(all.slice(cut + 1)))
      }),
      { numRuns: runs, seed },
    )
  })

  test('that is cut off repeatedly misses nothing that two processes write, and gets nothing twice', async () => {
    const { store, read, start } = await openLivePlace()
    const random = fc.sample(fc.integer({ min: 1, max: 60_000 }), { numRuns: 500, seed })
    const reading = read({ after: BEGINNING, fetch: breaking(() => random.pop() ?? 1e9) }, upToEvent(600))
    const writers = ['a1', 'a2'].map((id) => start(write(id, 300)))
    for (const { ended } of writers) expect(await ended).toMatchObject({ code: 0, err: '' })
    const stored = (await Promise.all([store.events(0), store.newLoops(0)])).map((rows) => rows.length)
    expect(stored).toEqual([600, 2])
    expectAll(await reading, { events: 600, loops: 2 })
  })

  test('may join at any time while thousands are written', async () => {
    const { read, start } = await openLivePlace()
    const writer = start(write('a1', 2_000))
    await eventually(() => writer.lines().includes('200'))
    const readers = [read({ after: BEGINNING }, upToEvent(2_000))]
    for (const line of ['400', '800', '1200', '1600']) {
      await eventually(() => writer.lines().includes(line))
      readers.push(read({ after: BEGINNING }, upToEvent(2_000)))
    }
    for (const seen of await Promise.all(readers)) expectAll(seen, { events: 2_000, loops: 1 })
  })

  test('can follow one loop only, or some topics', async () => {
    const { store, read } = await openLivePlace()
    await fillWithAll(store, 2)
    const last = (seen: Seen[]) => namesOf(seen).length === 2
    expect(namesOf(await read({ after: BEGINNING, loop: 'a2' }, last))).toEqual(['loop-start 2', 'loop-event 2'])
    expect(namesOf(await read({ after: BEGINNING, topics: ['panes'] }, last))).toEqual([
      'pane-change 1',
      'pane-change 2',
    ])
  })

  test('whose position belongs to another database starts over, and learns that', async () => {
    const { read } = await openLivePlace()
    const [hello] = await read({ after: '7.0.0.1' }, () => true)
    expect(hello?.message).toMatchObject({ type: 'hello', data: { cursor: BEGINNING, reset: true } })
  })

  test.each([
    ['after', { after: 'yesterday' }, /"yesterday" is not a position/],
    ['topics', { topics: ['weather'] as never }, /Unknown topic: "weather"/],
    ['loop', { loop: 'zzz' }, /No such loop: zzz/],
    ['log', { log: ['a1:0'] }, /"a1:0" is not a position in a log/],
  ])('is refused with a sentence when %s is invalid', async (_, asked, sentence) => {
    const { read } = await openLivePlace()
    await expect(read(asked, () => true)).rejects.toThrow(sentence)
  })
})

test('long texts are truncated and marked; a message is never large', async () => {
  const { store, read } = await openLivePlace()
  const lease = await begin(store, 'a1')
  const loop = await store.load('a1')
  const told = (words: string) => ({ kind: 'told', by: 'Ada', at: 1, order: { kind: 'say', words } }) as const
  await store.save(lease, loop, told('🦉'.repeat(10_000)))
  const feedback = Array.from({ length: 100 }, () => 'x'.repeat(3_000))
  await store.save(
    lease,
    { ...loop, next: { kind: 'turn', iteration: 1, attempt: 1, fresh: true, feedback } },
    told(''),
  )
  const [, , first, second] = await read({ after: BEGINNING }, upToEvent(2))
  expect(first?.message).toMatchObject({ cut: true, data: { fact: { order: { words: `${'🦉'.repeat(2_048)}…` } } } })
  expect(second?.message).toMatchObject({ cut: true, data: { n: 2, status: 'running', next: { kind: 'turn' } } })
  expect(JSON.stringify(second).length).toBeLessThan(2_000)
})

test('a reader that stops reading is cut off, and continues when it comes back', async () => {
  const { live, read, start } = await openLivePlace({ mostUnsent: 100_000 })
  // Without a socket, whose buffers take megabytes before a reader counts as slow.
  const { body } = await live.answer(new Request('http://127.0.0.1/api/live'))
  const stream = body?.getReader()
  const hello = new TextDecoder().decode((await stream?.read())?.value)
  const [, cursor = ''] = /^id: (.*)\nevent: hello$/m.exec(hello) ?? []
  const writer = start(write('a1', 100, 'x'.repeat(4_000)))
  await stream?.closed
  expect(await writer.ended).toMatchObject({ code: 0, err: '' })
  expectAll(await read({ after: cursor }, upToEvent(100)), { events: 100, loops: 1 })
})

test('a reader that stops reading while it catches up is also cut off', async () => {
  const { live, store, read, now } = await openLivePlace({ stallMs: 50 })
  const lease = await begin(store, 'a1')
  const loop = await store.load('a1')
  const words = 'x'.repeat(4_000)
  for (let n = 1; n <= 40; n++)
    await store.save(lease, loop, { kind: 'told', at: n, by: 'Ada', order: { kind: 'say', words } })
  await now()
  const { body } = await live.answer(new Request(`http://127.0.0.1/api/live?after=${BEGINNING}`))
  const stream = body?.getReader()
  await stream?.read()
  await stream?.closed
  expectAll(await read({ after: BEGINNING }, upToEvent(40)), { events: 40, loops: 1 })
})

test('a heartbeat advances the position past what nobody wanted', async () => {
  const { store, url } = await openLivePlace({ heartbeatMs: 50 })
  const response = await fetch(`${url}/api/live?topics=board`)
  await storyIn(store, 'a1', {}, works, works)
  let text = ''
  const decoder = new TextDecoder()
  for await (const part of response.body ?? []) {
    text += decoder.decode(part)
    if (text.includes(':\nid: 2.0.0.1\n\n')) break
  }
  expect(text).not.toContain('loop-event')
})

test('closing ends every stream', async () => {
  const { live, url } = await openLivePlace()
  const responses = await Promise.all([1, 2, 3].map(() => fetch(`${url}/api/live`)))
  live.close()
  for (const response of responses) expect(await response.text()).toMatch(/^id: 0\.0\.0\.0\nevent: hello\n/)
})

/** This many loops with an event each, board changes and pane changes. */
async function fillWithAll(store: Store, count: number): Promise<void> {
  for (let n = 1; n <= count; n++) {
    await storyIn(store, `a${n}`, {}, works)
    await store.board.saveGroup(group(n))
    await store.panes.save(PANE, {}, { change: { state: 'READY', words: String(n) } })
  }
}

async function begin(store: Store, id: string) {
  await store.create(loopOf(id))
  const lease = await store.lease(id)
  if ('heldBy' in lease) throw new Error('held')
  return lease
}

/** In another process: this many events, with a report for every hundredth. */
function write(id: string, count: number, words = ''): string {
  return `await store.create(loopOf('${id}'))
    const lease = await store.lease('${id}')
    const loop = await store.load('${id}')
    for (let n = 1; n <= ${count}; n++) {
      await store.save(lease, loop, { kind: 'told', at: n, by: 'Ada', order: { kind: 'say', words: ${JSON.stringify(words)} } })
      if (n % 100 === 0) console.log(n)
    }
    process.exit()`
}

function expectAll(seen: readonly Seen[], { events, loops }: { events: number; loops: number }): void {
  const numbers = (type: string) => seen.flatMap(({ message }) => (message.type === type ? [message.seq] : []))
  expect(numbers('loop-event')).toEqual(Array.from({ length: events }, (_, n) => n + 1))
  expect(numbers('loop-start')).toEqual(Array.from({ length: loops }, (_, n) => n + 1))
}
