/** A part of an iteration's transcript, by bytes: adjacent parts have every line once. */
import type { Transcripts } from './store.ts'
import { entriesIn as entriesOf, LINE_BREAK, type TurnEntry } from './transcript.ts'

/** The lines that start at or after byte `from` and before byte `to`. */
export type ByteSpan = { loop: string; iteration: number; from: number; to: number }

/**
 * `next`: where the first line after these starts, or the one that is still being written. What an agent prints as one
 * line may span several of ours: `before` is the entry before these, `after` has those that complete the last ones.
 */
export type SpanPart = { before: TurnEntry | undefined; entries: TurnEntry[]; after: TurnEntry[]; next: number }

export async function readSpan(transcripts: Pick<Transcripts, 'read'>, span: ByteSpan): Promise<SpanPart> {
  const { from, to } = span
  const bytes = await readLines(transcripts, { ...span, from: Math.max(0, from - 1) })
  // A line that `from` falls into belongs to the part before.
  const skipped = from === 0 ? 0 : bytes.indexOf(LINE_BREAK) + 1
  if (from > 0 && skipped === 0) return { before: undefined, entries: [], after: [], next: from }
  const start = from === 0 ? 0 : from - 1 + skipped
  const entries = start < to ? entriesIn(bytes.subarray(skipped)) : []
  const next = start < to ? start + bytes.length - skipped : start
  const before = entries[0] && start > 0 ? await lineBefore(transcripts, span, start) : undefined
  const after = isOpen(entries.findLast((entry) => !('err' in entry))) ? await lineAfter(transcripts, span, next) : []
  return { before, entries, after, next }
}

/** Whether the agent's line continues in the next piece of what it printed. */
export function isOpen(entry: TurnEntry | undefined): boolean {
  return entry !== undefined && 'out' in entry && !entry.out.endsWith('\n')
}

/** Whole lines, up to the end of the one that `to` falls into. */
async function readLines(
  { read }: Pick<Transcripts, 'read'>,
  { loop, iteration, from, to }: ByteSpan,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for (let at = from; ; ) {
    const { bytes, next } = await read(loop, iteration, at)
    const end = bytes.indexOf(LINE_BREAK, Math.max(0, to - 1 - at)) + 1
    parts.push(end > 0 ? bytes.subarray(0, end) : bytes)
    if (end > 0) return Buffer.concat(parts)
    if (next > at) {
      at = next
      continue
    }
    const all = Buffer.concat(parts)
    return all.subarray(0, all.lastIndexOf(LINE_BREAK) + 1)
  }
}

/** Nothing that an agent printed starts further back than this, since it is written in pieces. */
const FURTHEST_BACK = 250_000

async function lineBefore(
  { read }: Pick<Transcripts, 'read'>,
  { loop, iteration }: ByteSpan,
  at: number,
): Promise<TurnEntry | undefined> {
  const from = Math.max(0, at - FURTHEST_BACK)
  const { bytes } = await read(loop, iteration, from)
  const before = bytes.subarray(0, at - from)
  const begin = before.subarray(0, -1).lastIndexOf(LINE_BREAK) + 1
  return begin === 0 && from > 0 ? undefined : entriesIn(before.subarray(begin))[0]
}

/** A longer line of an agent is not waited for. */
const LONGEST_LINE = 8 << 20

/** The rest of the line. What was printed in between on the other stream is not part of it. */
async function lineAfter(transcripts: Pick<Transcripts, 'read'>, span: ByteSpan, from: number): Promise<TurnEntry[]> {
  const found: TurnEntry[] = []
  for (let at = from; at - from < LONGEST_LINE; ) {
    const bytes = await readLines(transcripts, { ...span, from: at, to: at + 1 })
    if (bytes.length === 0) return found
    at += bytes.length
    for (const entry of entriesIn(bytes)) {
      if ('err' in entry) continue
      if (!('out' in entry)) return [...found, { out: '\n' }] // its agent ended within the line
      const [rest = '', ...others] = entry.out.split('\n')
      found.push({ out: others.length > 0 ? `${rest}\n` : rest })
      if (others.length > 0) return found
    }
  }
  return found
}

/** ralph wrote every line itself; only a truncated one is not an entry. */
function entriesIn(bytes: Uint8Array): TurnEntry[] {
  return entriesOf(new TextDecoder().decode(bytes))
}
