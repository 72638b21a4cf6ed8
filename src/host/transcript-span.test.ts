import { appendFileSync } from 'node:fs'
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from './place.test-support.ts'
import { type LocalTranscripts, openTranscripts, type TurnEntry } from './transcript.ts'
import { readSpan } from './transcript-span.ts'

let transcripts: LocalTranscripts

beforeEach(() => {
  transcripts = openTranscripts(temporaryFolder())
})

const LAST = 1_000_000_000

/** Each test has its own iteration, so that many stories fit into one home. */
async function write(entries: TurnEntry[], iteration = 1): Promise<number> {
  const log = transcripts.openTurn('a1', iteration)
  log.write(entries)
  log.close()
  return transcripts.size('a1', iteration)
}

const read = (from: number, to: number, iteration = 1) => readSpan(transcripts, { loop: 'a1', iteration, from, to })

test('adjacent parts have every line once, wherever they are cut', async () => {
  let iteration = 0
  const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 30 }), { maxLength: 15 })
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 1, max: 90 }), async (said, width) => {
      const entries = said.map((text) => ({ out: `${text}\n` }))
      const size = await write(entries, ++iteration)
      const found: TurnEntry[] = []
      for (let from = 0; from < size; from += width) found.push(...(await read(from, from + width, iteration)).entries)
      expect(found).toEqual(entries)
    }),
    { numRuns: 60 },
  )
})

test('a reader that continues from `next` has every line once', async () => {
  const entries = Array.from({ length: 50 }, (_, n) => ({ out: `${'x'.repeat(n * 7)}\n` }))
  const size = await write(entries)
  const found: TurnEntry[] = []
  let from = 0
  while (from < size) {
    const part = await read(from, from + 100)
    found.push(...part.entries)
    expect(part.next).toBeGreaterThan(from)
    from = part.next
  }
  expect(found).toEqual(entries)
})

test('lines of any length are read whole', async () => {
  const entries = [70_000, 300_000, 2_000_000, 5].map((length) => ({ err: '€'.repeat(length) }))
  await write(entries)
  expect((await read(0, 1)).entries).toEqual(entries.slice(0, 1))
  expect((await read(1, LAST)).entries).toEqual(entries.slice(1))
})

test('nothing is there before anything was written, or after the end', async () => {
  expect(await read(0, LAST)).toMatchObject({ entries: [], next: 0 })
  const size = await write([{ out: 'one\n' }])
  expect(await read(size, LAST)).toMatchObject({ entries: [], next: size })
  expect(await read(size + 9, LAST)).toMatchObject({ entries: [], next: size + 9 })
})

test('a line that is still being written is waited for', async () => {
  const size = await write([{ out: 'one\n' }])
  appendFileSync(transcripts.turnFile('a1', 1), '{"out":"tw')
  expect(await read(0, LAST)).toMatchObject({ entries: [{ out: 'one\n' }], next: size })
  expect(await read(size, LAST)).toMatchObject({ entries: [], next: size })
  appendFileSync(transcripts.turnFile('a1', 1), 'o\\n"}\n')
  expect((await read(size, LAST)).entries).toEqual([{ out: 'two\n' }])
})

test('a line of the agent that spans several of ours is known on both sides of a cut', async () => {
  const entries = [{ out: 'a\nlong ' }, { err: 'oh\n' }, { out: 'line' }, { out: ', at last\nb\n' }, { out: 'c\n' }]
  await write(entries)
  const first = await read(0, 1)
  expect(first).toMatchObject({ entries: entries.slice(0, 1), after: [{ out: 'line' }, { out: ', at last\n' }] })
  const third = await read(first.next + 20, LAST)
  expect(third).toMatchObject({ before: entries[2], entries: entries.slice(3), after: [] })
})

test('a line that its agent did not end is ended by what follows', async () => {
  const exit = { at: 1, exit: 0, signal: null }
  await write([{ out: 'no break' }, exit])
  expect(await read(0, 1)).toMatchObject({ entries: [{ out: 'no break' }], after: [{ out: '\n' }] })
  expect(await read(0, LAST)).toMatchObject({ after: [] })
})
