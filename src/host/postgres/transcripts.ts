/**
 * Transcripts in Postgres, in compressed pieces: whoever reaches the database can read what was said, wherever that
 * was.
 */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Transcripts } from '../store.ts'
import { openRecords, PART_BYTES } from '../transcript.ts'
import type { PgAsking } from './asking.ts'
import { openUpload, type Upload } from './upload.ts'

export type PgTranscripts = Transcripts & {
  /** Everything that was said in a loop here has been uploaded. */
  arrived(loop: string): Promise<void>
  close(): Promise<void>
}

/** `limitMb`: how much of the output of an iteration the database keeps. */
type Around = { home: string; now: () => number; limitMb?: number | undefined }

const LIMIT_MB = 8

export function openTranscripts(asking: PgAsking, { home, now, limitMb = LIMIT_MB }: Around): PgTranscripts {
  const spool = openRecords(home)
  const open = new Map<Upload, string>()
  const arrived = async (loop?: string) => {
    const own = [...open].filter(([, of]) => loop === undefined || of === loop)
    await Promise.all(own.map(([upload]) => upload.arrived()))
  }
  return {
    arrived,
    close: () => arrived(),

    openTurn(loop, iteration) {
      const log = spool.openTurn(loop, iteration)
      const upload = openUpload(asking, { loop, iteration, path: log.path, now, limitMb })
      open.set(upload, loop)
      return {
        path: log.path,
        arrived: upload.arrived,
        write(entries) {
          const size = log.write(entries)
          upload.wake()
          return size
        },
        close() {
          log.close()
          void upload.end().finally(() => open.delete(upload))
        },
      }
    },

    async read(loop, iteration, from) {
      await arrived(loop)
      const rows = await asking.all(PIECES, loop, iteration, from, from + PART_BYTES)
      if (rows.length === 0) return { bytes: new Uint8Array(), next: from }
      const pieces = await Promise.all(rows.map(({ data }) => unpack(data as Buffer))) // a column of bytes
      const bytes = Buffer.concat(pieces).subarray(from - Number(rows[0]?.at_byte))
      return { bytes, next: from + bytes.length }
    },

    async size(loop, iteration) {
      await arrived(loop)
      return Number((await asking.one(SIZE, loop, iteration))?.size ?? 0)
    },

    async prune(ended, olderThan) {
      const row = await asking.transaction(({ one }) => one(PRUNE, [...ended], olderThan))
      return Number(row?.logs)
    },
  }
}

const unpack = promisify<Buffer, Buffer>(gunzip)

const OF = 'FROM transcript WHERE loop = $1 AND iteration = $2'

/** The pieces that overlap a part of the log. */
const PIECES = `SELECT at_byte, data ${OF} AND at_byte < $4 AND at_byte + bytes_len > $3
  AND at_byte >= coalesce((SELECT max(at_byte) ${OF} AND at_byte <= $3), 0) ORDER BY at_byte`

const SIZE = `SELECT at_byte + bytes_len AS size ${OF} ORDER BY at_byte DESC LIMIT 1`

const PRUNE = `WITH gone AS (
    DELETE FROM transcript USING loop WHERE loop.id = transcript.loop AND loop.id = ANY ($1) AND loop.updated_at < $2
    RETURNING transcript.loop, transcript.iteration
  ) SELECT count(DISTINCT (loop, iteration)) AS logs FROM gone`
