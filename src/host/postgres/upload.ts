/** Uploads what a turn has written to its local file to the database, piece by piece, in whole lines. */
import { rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { MEGABYTE } from '../bounded-log.ts'
import { codeOf } from '../plain-words.ts'
import { LINE_BREAK, PART_BYTES } from '../transcript.ts'
import { LONG_PATIENCE_MS, untilItWorks } from '../waiting.ts'
import { isUnreachable, type PgAsking } from './asking.ts'

export type Upload = {
  /** Something was written: it is uploaded soon, together with what follows. */
  wake(): void
  /** What is there now is uploaded, or cannot be. */
  arrived(): Promise<void>
  /** Nothing more is written. The file is removed once all of it is uploaded. */
  end(): Promise<void>
}

/** `limitMb`: beyond this limit only what ralph itself writes is kept of an iteration, and how much is left out. */
type Spooled = { loop: string; iteration: number; path: string; now: () => number; limitMb: number }

const SOON_MS = 200

export function openUpload(asking: PgAsking, spooled: Spooled): Upload {
  const { path } = spooled
  const pieces = openPieces(asking, spooled)
  let sent = sizeOf(path) // what is there was left by a killed process
  let soon: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  const send = async () => {
    for (let lines = await linesFrom(path, sent); lines.length > 0; lines = await linesFrom(path, sent)) {
      await pieces.add(lines)
      sent += lines.length
    }
  }
  const arrived = () => {
    clearTimeout(soon)
    soon = undefined
    // One after the other. What cannot be uploaded is still in the file.
    running = running.then(send).catch(() => {})
    return running
  }
  return {
    arrived,
    wake() {
      soon ??= setTimeout(() => void arrived(), SOON_MS).unref()
    },
    async end() {
      await arrived()
      await pieces.end().catch(() => {}) // only a line about what was left out
      if (sent >= sizeOf(path)) rmSync(path, { force: true })
    },
  }
}

/** Whole lines from a byte on, as many as fit a piece. */
async function linesFrom(path: string, from: number): Promise<Buffer> {
  const there = sizeOf(path) - from
  if (there <= 0) return Buffer.alloc(0)
  const file = await open(path)
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(there, PART_BYTES)), 0, undefined, from)
    const end = buffer.subarray(0, bytesRead).lastIndexOf(LINE_BREAK) + 1
    return buffer.subarray(0, end || bytesRead) // a longer line is split into several pieces
  } finally {
    await file.close()
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

type Pieces = { add(lines: Buffer): Promise<void>; end(): Promise<void> }

function openPieces(asking: PgAsking, { loop, iteration, now, limitMb }: Spooled): Pieces {
  const limit = limitMb * MEGABYTE
  let size: number | undefined
  let dropped = 0
  const append = async (bytes: Buffer) => {
    if (bytes.length === 0) return
    const data = await pack(bytes)
    const row = await untilItWorks(
      () => asking.transaction(({ one }) => one(APPEND, loop, iteration, bytes.length, data), 'silent'),
      { why: (cause, waitedMs) => (waitedMs < LONG_PATIENCE_MS && isPassing(cause) ? WAITING : undefined) },
    )
    size = Number(row?.at_byte) + bytes.length
  }
  const tell = (words: object) => append(Buffer.from(`${JSON.stringify({ at: now(), limitMb, ...words })}\n`))
  return {
    async add(lines) {
      size ??= Number((await asking.one(SIZE, loop, iteration))?.size ?? 0)
      if (size + lines.length <= limit) return append(lines)
      if (dropped === 0) await tell({})
      const kept = withoutOutput(lines)
      dropped += lines.length - kept.length
      await append(kept)
    },
    async end() {
      if (dropped > 0) await tell({ dropped })
    },
  }
}

const pack = promisify<Buffer, Buffer>(gzip)

/** ralph's own lines show which attempts there were. */
function withoutOutput(lines: Buffer): Buffer {
  const kept = lines
    .toString()
    .split('\n')
    .filter((line) => /^\{"(?:at|attempt)":/.test(line))
  return Buffer.from(kept.map((line) => `${line}\n`).join(''))
}

const END =
  'SELECT at_byte + bytes_len FROM transcript WHERE loop = $1 AND iteration = $2 ORDER BY at_byte DESC LIMIT 1'

const SIZE = `SELECT (${END}) AS size`

/** At the end in the database: an attempt on another machine may have written there before. */
const APPEND = `INSERT INTO transcript (loop, iteration, at_byte, bytes_len, data)
  VALUES ($1, $2, coalesce((${END}), 0), $3, $4) RETURNING at_byte`

/** Two that append at once want the same position. */
function isPassing(cause: unknown): boolean {
  return isUnreachable(cause) || codeOf(cause) === '23505'
}

const WAITING = 'The transcript could not be uploaded to the database. Retrying.'
