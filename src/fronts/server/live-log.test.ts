import { appendFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { claims, pause, works } from '../../engine/stories.test-support.ts'
import { drawChance } from '../../host/chance.test-support.ts'
import { isOnPostgres } from '../../host/postgres/postgres.test-support.ts'
import { loopOf, storyIn } from '../../host/store-contract/scene.ts'
import type { TurnEntry } from '../../host/transcript.ts'
import { type LivePlace, openLivePlace, type Seen } from './live.test-support.ts'

const { runs, seed } = drawChance({ runs: 10, seed: 1 })

type Log = Extract<Seen['message'], { type: 'log' }>

describe('the log of a loop', () => {
  test('arrives line by line while the agent works', async () => {
    const place = await openLivePlace()
    await place.store.create(loopOf('a1'))
    const log = place.store.transcripts.openTurn('a1', 1)
    log.write([{ at: 1, attempt: 1, prompt: 'p'.repeat(5_000), command: ['agent'] }, { out: 'one\n' }])
    const reading = place.read({ log: ['a1'] }, (seen) => textOf(seen) === 'one\ntwo\n')
    log.write([{ out: 'two\n' }])
    const logs = logsOf(await reading)
    expect(logs[0]).toMatchObject({ loop: 'a1', seq: 0, data: { iteration: 1, offset: 0 } })
    expect(logs[0]?.data.entries[0]).toEqual({
      at: 1,
      attempt: 1,
      prompt: `${'p'.repeat(4_096)}…`,
      command: ['agent'],
    })
    log.close()
  })

  test('comes at most ten times a second', async () => {
    const { store, read, start } = await openLivePlace()
    await store.create(loopOf('a1'))
    const writer = start(`const log = store.transcripts.openTurn('a1', 1)
      for (let n = 0; n < 100; n++) {
        log.write([{ out: n + '\\n' }])
        await new Promise((go) => setTimeout(go, 10))
      }
      log.close()
      await store.close()
      process.exit()`)
    const seen = await read({ log: ['a1'] }, (all) => textOf(all).endsWith('99\n'))
    expect(await writer.ended).toMatchObject({ code: 0, err: '' })
    const times = logsOf(seen).map(({ at }) => at)
    const closest = Math.min(...times.slice(1).map((at, n) => at - (times[n] ?? 0)))
    expect(closest).toBeGreaterThanOrEqual(95)
    expect(textOf(seen)).toBe(Array.from({ length: 100 }, (_, n) => `${n}\n`).join(''))
  })

  test("continues through all iterations to the end of the loop, from the reader's position", async () => {
    const { store, read } = await openLivePlace()
    for (const n of [1, 3]) say({ store }, n, [{ out: `turn ${n}\n` }])
    await storyIn(store, 'a1', {}, works, works, claims('clear'))
    const all = logsOf(await read({ log: ['a1:1'] }, (seen) => textOf(seen).includes('turn 3')))
    expect(all.map(({ data }) => data.iteration)).toEqual([1, 3])
    const rest = await read({ log: [`a1:1:${all[0]?.data.next}`] }, (seen) => textOf(seen).length > 0)
    expect(textOf(rest)).toBe('turn 3\n')
  })

  test.each([
    ['paused', 1],
    ['running', 2],
  ])('starts with the latest iteration: a loop that is %s', async (standing, iteration) => {
    const { store, read, now } = await openLivePlace()
    const orders = standing === 'paused' ? [pause] : []
    await storyIn(store, 'a1', {}, works, ...orders)
    say({ store }, iteration, [{ out: 'last turn\n' }])
    await now()
    const [hello, log] = await read({ log: ['a1'] }, (seen) => textOf(seen).length > 0)
    expect(hello?.message).toMatchObject({ data: { log: [`a1:${iteration}:0`] } })
    expect(log?.message).toMatchObject({ type: 'log', data: { iteration } })
  })

  // In Postgres a log is not a file that a test could write to.
  test.skipIf(isOnPostgres)('is reassembled exactly wherever it was cut, even within a character', async () => {
    const place = await openLivePlace({ logEveryMs: 1 })
    await place.store.create(loopOf('a1'))
    const entry = fc.record({ out: fc.oneof(fc.constant('🦉'.repeat(70_000)), fc.string({ unit: 'grapheme' })) })
    let from = 0
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 12 }), fc.nat(), async (entries, cut) => {
        const written = entries.map((one) => `${JSON.stringify(one)}\n`).join('')
        const bytes = Buffer.from(written)
        const at = cut % bytes.length
        const { path, close } = place.store.transcripts.openTurn('a1', 1)
        close()
        appendFileSync(path, bytes.subarray(0, at))
        const whole = bytes.subarray(0, at).lastIndexOf(10) + 1
        const seen = whole > 0 ? await place.read({ log: [`a1:1:${from}`] }, reaches(from + whole)) : []
        appendFileSync(path, bytes.subarray(at))
        const end = from + bytes.length
        const rest = await place.read({ log: [`a1:1:${from + whole}`] }, reaches(end))
        from = end
        expect(logsOf([...seen, ...rest]).flatMap(({ data }) => data.entries)).toEqual(entries)
      }),
      { numRuns: runs, seed },
    )
  })

  test('resumes each position when two logs of one loop are read and the connection breaks', async () => {
    const { store, read } = await openLivePlace({ logEveryMs: 60_000 }) // each has one iteration
    for (const n of [1, 2]) say({ store }, n, [{ out: `turn ${n}\n` }])
    await storyIn(store, 'a1', {}, works, works, claims('clear'))
    const asked: string[][] = []
    const breakOnce: typeof fetch = async (url, init) => {
      asked.push(new URL(String(url)).searchParams.getAll('log'))
      const response = await fetch(url, init)
      if (asked.length > 1) return response
      let text = ''
      for await (const part of response.body ?? []) {
        text += new TextDecoder().decode(part)
        if (text.split('event: log').length > 2) break
      }
      return new Response(text)
    }
    await read({ log: ['a1:1', 'a1:2'], fetch: breakOnce }, () => asked.length > 1)
    expect(asked[1]).toEqual([expect.stringMatching(/^a1:1:[1-9]/), expect.stringMatching(/^a1:2:[1-9]/)])
  })

  test.skipIf(isOnPostgres)('skips a line that was cut off when ralph was killed', async () => {
    const { store, read } = await openLivePlace()
    await store.create(loopOf('a1'))
    say({ store }, 1, [{ out: 'before\n' }])
    const { path, close } = store.transcripts.openTurn('a1', 1)
    close()
    appendFileSync(path, '{"out":"half of a')
    say({ store }, 1, [{ out: 'after\n' }])
    expect(textOf(await read({ log: ['a1'] }, (seen) => textOf(seen).includes('after')))).toBe('before\nafter\n')
  })
})

function say({ store }: Pick<LivePlace, 'store'>, iteration: number, entries: TurnEntry[]): void {
  const log = store.transcripts.openTurn('a1', iteration)
  log.write(entries)
  log.close()
}

function logsOf(seen: readonly Seen[]): Log[] {
  return seen.flatMap(({ message }) => (message.type === 'log' ? [message] : []))
}

function textOf(seen: readonly Seen[]): string {
  return logsOf(seen)
    .flatMap(({ data }) => data.entries)
    .map((entry) => ('out' in entry ? entry.out : ''))
    .join('')
}

function reaches(end: number): (seen: Seen[]) => boolean {
  return (seen) => logsOf(seen).some(({ data }) => data.next === end)
}
