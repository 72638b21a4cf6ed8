import { statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type BoundedLog, boundLog } from './bounded-log.ts'
import { temporaryFolder } from './place.test-support.ts'
import { openTranscripts, readTurnLog, type TurnEntry } from './transcript.ts'

async function record(limitMb: number | undefined, work: (log: BoundedLog) => void) {
  const transcripts = openTranscripts(temporaryFolder())
  const file = transcripts.openTurn('a', 1)
  let full = 0
  const log = boundLog(file, { limitMb, now: () => 7, onFull: () => (full += 1) })
  work(log)
  const dropped = log.end()
  file.close()
  const entries: TurnEntry[] = []
  for await (const entry of readTurnLog(transcripts, 'a', 1)) entries.push(entry)
  return { entries, dropped, full, bytes: statSync(file.path).size }
}

test('what fits is kept, without a note', async () => {
  const { entries, dropped, full } = await record(1, (log) => {
    log.add([{ out: 'one\n' }])
    log.add([{ err: 'two\n' }])
  })
  expect({ entries, dropped, full }).toEqual({
    entries: [{ out: 'one\n' }, { err: 'two\n' }],
    dropped: undefined,
    full: 0,
  })
})

test('what does not fit is counted, and the transcript says so at the cut and at its end', async () => {
  const { entries, dropped, full } = await record(0.00002, (log) => {
    log.add([{ out: 'the first piece\n' }])
    log.add([{ out: 'äö\n' }])
    log.add([{ err: 'more\n' }])
  })
  expect(entries).toEqual([
    { out: 'the first piece\n' },
    { at: 7, limitMb: 0.00002 },
    { at: 7, limitMb: 0.00002, dropped: 10 },
  ])
  expect({ dropped, full }).toEqual({ dropped: 10, full: 1 })
})

test('text that takes more room in the file than its length counts with that room', async () => {
  const { bytes } = await record(0.1, (log) => {
    for (let n = 0; n < 100; n++) log.add([{ out: '\0'.repeat(10_000) }])
  })
  expect(bytes).toBeLessThan(200_000)
})

test('without a limit everything is kept', async () => {
  const { entries, dropped } = await record(undefined, (log) => {
    for (let n = 0; n < 100; n++) log.add([{ out: 'x'.repeat(10_000) }])
  })
  expect([entries.length, dropped]).toEqual([100, undefined])
})
