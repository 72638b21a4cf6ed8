/**
 * Live events: one stream of server-sent events per client, with everything new in the store.
 * Nothing is kept in memory: late or slow clients read from the database, then join those at the head.
 */
import type { Heads } from '../../host/store.ts'
import type { Context } from '../../operations/operation.ts'
import { type Asked, printPlace, readAsked } from './live-asked.ts'
import { hasReached, printCursor } from './live-cursor.ts'
import { encode } from './live-encode.ts'
import { followLog } from './live-log.ts'
import { openPump } from './live-pump.ts'
import { openReader, type Reader } from './live-reader.ts'

export type Live = {
  /** Throws if the request is invalid. */
  answer(request: Request): Promise<Response>
  /** Ends all streams. */
  close(): void
}

/** `failed`: receives why the store could not be read. */
export type LiveOptions = {
  heartbeatMs?: number
  logEveryMs?: number
  mostUnsent?: number
  stallMs?: number
  failed?: (cause: unknown) => void
}

const USUAL = { heartbeatMs: 15_000, logEveryMs: 100, mostUnsent: 1 << 20, stallMs: 30_000, failed: () => {} }

export function openLive(context: Pick<Context, 'store' | 'now'>, options: LiveOptions = {}): Live {
  const { heartbeatMs, logEveryMs, mostUnsent, stallMs, failed }: Required<LiveOptions> = { ...USUAL, ...options }
  const { now } = context
  const store = context.store()
  const readers = new Set<Reader>()
  const endAll = () => {
    for (const reader of readers) reader.end()
  }
  // A store that cannot be read ends the streams; their readers reconnect.
  const pump = openPump(store, {
    mostUnsent,
    failed(cause) {
      failed(cause)
      endAll()
    },
  })
  const beat = setInterval(pump.beat, heartbeatMs)
  beat.unref()

  function begin(asked: Asked, head: Heads): Reader {
    const isOurs = asked.after === undefined || hasReached(head, asked.after)
    const from = (isOurs && asked.after) || head
    const reader = openReader({ asked, from, stallMs, gone: () => void readers.delete(reader) })
    readers.add(reader)
    const cursor = printCursor(from)
    const log = asked.logs.map(printPlace)
    const data = { cursor, log, ...(isOurs ? {} : { reset: true as const }) }
    reader.push(encode({ seq: 0, at: now(), type: 'hello', data }, cursor))
    return reader
  }

  return {
    async answer(request) {
      const asked = await readAsked(request, store)
      const reader = begin(asked, await pump.head())
      const orEnd = (work: Promise<void>) =>
        void work.catch((cause) => {
          failed(cause)
          reader.end()
        })
      orEnd(pump.add(reader))
      if (asked.topics.has('log'))
        for (const place of asked.logs) orEnd(followLog({ store, now, everyMs: logEveryMs }, place, reader))
      return new Response(reader.stream, {
        headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
      })
    },

    close() {
      clearInterval(beat)
      pump.close()
      endAll()
    },
  }
}
