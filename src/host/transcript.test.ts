import { existsSync, readdirSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Fact } from '../engine/loop.ts'
import { lost, START, say, specOf, woke } from '../engine/stories.test-support.ts'
import { canMount, smallDisk, temporaryFolder } from './place.test-support.ts'
import { type LocalTranscripts, openTranscripts, readTurnLog, type TurnEntry } from './transcript.ts'

let home: string
let transcripts: LocalTranscripts

beforeEach(() => {
  home = temporaryFolder()
  transcripts = openTranscripts(home)
})

const beginning = { id: 'a1', spec: specOf(), at: START, tree: 'tree 0' }

describe('the story of a loop', () => {
  test('is what was recorded, in order', () => {
    transcripts.begin(beginning)
    const facts = [woke, say('quick\n🦉 \u2028'), lost]
    for (const [index, fact] of facts.entries()) transcripts.addFact('a1', index + 1, fact)
    expect(transcripts.story('a1')).toEqual({ beginning, facts, last: 3 })
    expect(transcripts.lastFact('a1')).toBe(3)
  })

  test('starts with no facts', () => {
    transcripts.begin(beginning)
    expect(transcripts.story('a1')).toEqual({ beginning, facts: [], last: 0 })
    expect(transcripts.lastFact('a1')).toBe(0)
  })

  test('that does not exist has no start', () => {
    expect(transcripts.lastFact('a1')).toBe(-1)
    expect(transcripts.loops()).toEqual([])
  })

  test('has each fact once, although it was written twice', () => {
    tell([1, woke], [2, lost], [1, woke], [2, lost], [3, woke])
    expect(transcripts.story('a1')?.facts).toEqual([woke, lost, woke])
  })

  test('ends before a missing fact', () => {
    tell([1, woke], [3, lost])
    expect(transcripts.story('a1')?.facts).toEqual([woke])
  })

  test.each([1, 5, 20])(
    'that was cut %i bytes before its end loses only its last fact, and can be continued',
    (bytes) => {
      tell([1, woke], [2, lost])
      const path = join(home, 'transcripts', 'a1', 'loop.jsonl')
      truncateSync(path, statSync(path).size - bytes)
      const left = bytes === 1 ? 2 : 1
      expect(transcripts.lastFact('a1')).toBe(left)
      for (let n = left + 1; n <= 3; n++) transcripts.addFact('a1', n, n === 2 ? lost : woke)
      expect(transcripts.story('a1')?.facts).toEqual([woke, lost, woke])
    },
  )

  test('whose prompt is very long is counted nevertheless', () => {
    transcripts.begin({ ...beginning, spec: specOf({ prompt: 'x'.repeat(3 << 20) }) })
    transcripts.addFact('a1', 1, woke)
    expect(transcripts.lastFact('a1')).toBe(1)
    expect(transcripts.story('a1')?.facts).toEqual([woke])
  })

  test('is listed by its id', () => {
    for (const id of ['b2', 'a1']) transcripts.begin({ ...beginning, id })
    expect(transcripts.loops().sort()).toEqual(['a1', 'b2'])
  })

  test('is private to its owner', () => {
    transcripts.begin(beginning)
    expect(statSync(join(home, 'transcripts', 'a1')).mode & 0o777).toBe(0o700)
    expect(statSync(join(home, 'transcripts', 'a1', 'loop.jsonl')).mode & 0o777).toBe(0o600)
  })

  test('that starts with something else is not a story', () => {
    transcripts.begin(beginning)
    writeFileSync(join(home, 'transcripts', 'a1', 'loop.jsonl'), '{"n":1,"fact":{}}\n')
    expect(transcripts.story('a1')).toBeUndefined()
  })

  function tell(...facts: [n: number, fact: Fact][]): void {
    transcripts.begin(beginning)
    for (const [n, fact] of facts) transcripts.addFact('a1', n, fact)
  }
})

describe('the record of a turn', () => {
  const start = (attempt: number): TurnEntry => ({ at: START, attempt, prompt: 'go', command: ['agent', '--now'] })

  test('is read as it was written', async () => {
    const entries: TurnEntry[] = [start(1), { out: 'a\n' }, { err: 'b\n' }, { at: START, exit: 0, signal: null }]
    expect(await record(entries)).toEqual(entries)
  })

  test('keeps every text', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u2028', '\u2029', '\r', '\r\n', '\u0085', '\0'),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ out: text }), { maxLength: 20 }), async (entries) => {
        expect(await record(entries)).toEqual(entries)
      }),
      { numRuns: 50 },
    )
  })

  test('keeps texts of any length', async () => {
    const entries = [0, 1, 65_535, 65_536, 65_537, 3_000_000].map((length) => ({ out: '€'.repeat(length) }))
    expect(await record(entries)).toEqual(entries)
  })

  test('holds all attempts at its iteration', async () => {
    const log = openTranscripts(home).openTurn('a1', 7)
    log.write([start(1), { out: 'first\n' }])
    log.close()
    const again = openTranscripts(home).openTurn('a1', 7)
    again.write([start(2)])
    again.close()
    expect(await read(7)).toEqual([start(1), { out: 'first\n' }, start(2)])
  })

  test('that was cut continues with the next attempt, of which nothing is lost', async () => {
    const log = transcripts.openTurn('a1', 1)
    log.write([start(1), { out: 'half of this is gone\n' }])
    log.close()
    truncateSync(log.path, statSync(log.path).size - 9)
    const again = transcripts.openTurn('a1', 1)
    again.write([start(2), { out: 'whole\n' }])
    again.close()
    expect(await read(1)).toEqual([start(1), start(2), { out: 'whole\n' }])
  })

  test('that does not exist is empty', async () => {
    expect(await read(9)).toEqual([])
  })

  test('is private to its owner', () => {
    const log = transcripts.openTurn('a1', 1)
    log.close()
    expect(statSync(log.path).mode & 0o777).toBe(0o600)
  })

  test.skipIf(!canMount)(
    'on a full disk is refused with a sentence, with whole entries before it (needs mount)',
    async () => {
      const { path } = smallDisk('size=1m')
      const full = openTranscripts(path)
      const log = full.openTurn('a1', 1)
      const entry = { out: 'x'.repeat(70_000) }
      let written = 0
      const fill = () => {
        for (;;) {
          log.write([entry])
          written++
        }
      }
      expect(fill).toThrow(expect.objectContaining({ code: 'disk-full', message: expect.stringContaining(log.path) }))
      log.close()
      expect(await read(1, full)).toEqual(Array(written).fill(entry))
    },
  )

  test('is read from any byte on, even while it grows', async () => {
    const log = transcripts.openTurn('a1', 1)
    const text = () => readFileSync(log.path, 'utf8')
    const readFrom = async (from: number) => {
      const { bytes, next } = await transcripts.read('a1', 1, from)
      return { text: new TextDecoder().decode(bytes), next }
    }
    log.write([{ out: 'first 🦉\n' }])
    const first = await readFrom(0)
    expect(first).toEqual({ text: text(), next: statSync(log.path).size })
    expect(await readFrom(first.next)).toEqual({ text: '', next: first.next })
    log.write([{ out: 'second\n' }])
    const second = await readFrom(first.next)
    expect(first.text + second.text).toBe(text())
    expect((await readFrom(5)).text).toBe(text().slice(5))
    expect(await transcripts.read('nobody', 1, 0)).toMatchObject({ next: 0 })
    log.close()
  })

  test('is read in parts of limited size', async () => {
    const log = transcripts.openTurn('a1', 1)
    const entry = { out: '🦉'.repeat(100_000) }
    log.write([entry, entry, entry])
    log.close()
    expect((await transcripts.read('a1', 1, 0)).bytes.length).toBeLessThan(300_000)
    expect(await read(1)).toEqual([entry, entry, entry])
  })

  let iteration = 0
  async function record(entries: readonly TurnEntry[]): Promise<TurnEntry[]> {
    const log = transcripts.openTurn('a1', ++iteration)
    for (const entry of entries) log.write([entry])
    log.close()
    return read(iteration)
  }

  async function read(n: number, from: LocalTranscripts = transcripts): Promise<TurnEntry[]> {
    const entries: TurnEntry[] = []
    for await (const entry of readTurnLog(from, 'a1', n)) entries.push(entry)
    return entries
  }
})

describe('old transcripts', () => {
  const DAY = 86_400_000

  test('of loops that ended are removed, and nothing else', async () => {
    for (const id of ['old', 'old-but-going-on', 'new']) {
      transcripts.begin({ ...beginning, id })
      transcripts.openTurn(id, 1).close()
    }
    for (const id of ['old', 'old-but-going-on']) age(id, 31)
    expect(await transcripts.prune(new Set(['old', 'new', 'unknown']), Date.now() - 30 * DAY)).toBe(1)
    const files = (id: string) => readdirSync(join(home, 'transcripts', id)).sort()
    expect(files('old')).toEqual(['loop.jsonl'])
    for (const id of ['old-but-going-on', 'new']) expect(files(id)).toEqual(['1.jsonl', 'loop.jsonl'])
  })

  test('of a loop that is old but has only just ended are kept', async () => {
    transcripts.begin(beginning)
    age('a1', 40)
    transcripts.addFact('a1', 1, woke)
    expect(await transcripts.prune(new Set(['a1']), Date.now() - 30 * DAY)).toBe(0)
    expect(existsSync(join(home, 'transcripts', 'a1'))).toBe(true)
  })

  test('next to other things in the folder are found nevertheless', async () => {
    transcripts.begin(beginning)
    transcripts.openTurn('a1', 1).close()
    age('a1', 40)
    writeFileSync(join(home, 'transcripts', 'notes.txt'), 'mine')
    expect(await transcripts.prune(new Set(['a1']), Date.now() - 30 * DAY)).toBe(1)
    expect(readFileSync(join(home, 'transcripts', 'notes.txt'), 'utf8')).toBe('mine')
    expect(transcripts.loops()).toEqual(['a1'])
  })

  function age(id: string, days: number): void {
    const folder = join(home, 'transcripts', id)
    const then = (Date.now() - days * DAY) / 1_000
    for (const name of readdirSync(folder)) utimesSync(join(folder, name), then, then)
    utimesSync(folder, then, then)
  }
})
