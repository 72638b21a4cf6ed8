/** Follows the log of a loop for one reader: whole lines, in batches, through all its iterations. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ended } from '../../engine/loop.ts'
import type { Store } from '../../host/store.ts'
import { entriesIn, type TurnEntry } from '../../host/transcript.ts'
import type { LogPlace } from './live-asked.ts'
import { encode, shortened } from './live-encode.ts'
import { join, type Reader } from './live-reader.ts'

export type Following = { store: Store; now: () => number; everyMs: number }

/** Ends with the reader, or when the loop has ended and everything was sent. */
export async function followLog({ store, now, everyMs }: Following, from: LogPlace, reader: Reader): Promise<void> {
  for (let place = from; !reader.isGone(); ) {
    // Asked before reading the log: a turn that had ended by then writes nothing more.
    const loop = await store.load(place.loop)
    const batch = await readBatch(store, place)
    if (batch) {
      const { offset, iteration } = place
      const { entries, next } = batch
      reader.push(
        encode({ seq: offset, at: now(), type: 'log', loop: loop.id, data: { iteration, offset, next, entries } }),
      )
      place = { ...place, offset: next }
      await reader.room()
      if (batch.isFull) continue // far behind: as fast as the reader can take it
    } else if (place.iteration <= loop.tally.iteration) {
      const isLast = ended(loop) && place.iteration === loop.tally.iteration
      if (isLast) return
      place = { ...place, iteration: place.iteration + 1, offset: 0 }
      continue
    } else if (ended(loop)) return
    await sleep(everyMs, undefined, { ref: false })
  }
}

type Batch = { entries: TurnEntry[]; next: number; isFull: boolean }

const NEWLINE = 0x0a
const LONGEST_LINE = 4 << 20

/** The complete lines that follow; undefined if there are none yet. */
async function readBatch({ transcripts }: Store, { loop, iteration, offset }: LogPlace): Promise<Batch | undefined> {
  const parts: Uint8Array[] = []
  let [end, size] = [0, 0]
  while (end === 0 && size < LONGEST_LINE) {
    const { bytes } = await transcripts.read(loop, iteration, offset + size)
    if (bytes.length === 0) return undefined // an incomplete line
    const last = bytes.lastIndexOf(NEWLINE)
    if (last >= 0) end = size + last + 1
    size += bytes.length
    parts.push(bytes)
  }
  // Longer than any line ralph writes: the rest is not an entry, and is skipped.
  if (end === 0) return { entries: [], next: offset + size, isFull: true }
  const text = new TextDecoder().decode(join(parts).subarray(0, end))
  return { entries: text.split('\n').flatMap(toEntry), next: offset + end, isFull: end > FULL }
}

const FULL = 128 << 10

/** REST has the prompt in full; the agent's output is sent as is. */
function toEntry(line: string): TurnEntry[] {
  return entriesIn(line).map((entry) => ('prompt' in entry ? { ...entry, prompt: shortened(entry.prompt) } : entry))
}
