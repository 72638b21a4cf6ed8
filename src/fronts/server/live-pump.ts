/** Sends what is new in the store to every reader: read and encoded once for all readers at the head. */
import { setImmediate as breathe } from 'node:timers/promises'
import type { Heads, Store } from '../../host/store.ts'
import { hasReached, printCursor } from './live-cursor.ts'
import { encodeHeartbeat } from './live-encode.ts'
import { type Outgoing, readOn } from './live-read.ts'
import { join, type Reader, wants } from './live-reader.ts'

export type Pump = {
  /** Everything up to here has been sent. */
  head(): Promise<Heads>
  /** Sends a reader what it has missed, then lets it join the others. Resolves once it has joined or left. */
  add(reader: Reader): Promise<void>
  beat(): void
  close(): void
}

/** `mostUnsent`: a reader with more than this pending is cut off. `failed`: the store cannot be read. */
type Pumping = { mostUnsent: number; failed: (cause: unknown) => void }

export function openPump(store: Store, { mostUnsent, failed }: Pumping): Pump {
  const atHead = new Set<Reader>()
  let known: Heads | undefined

  async function head(): Promise<Heads> {
    const heads = known ?? (await store.heads())
    known ??= heads // another call may have been faster
    return known
  }

  async function sendNew(): Promise<void> {
    const upTo = await store.heads()
    for (let from = await head(); !hasReached(from, upTo); from = await head()) {
      const { outgoing, at } = atHead.size > 0 ? await readOn(store, from, upTo) : { outgoing: [], at: upTo }
      known = at
      const all = join(outgoing.map(({ bytes }) => bytes))
      for (const reader of atHead) give(reader, outgoing, all)
    }
  }

  function give(reader: Reader, outgoing: readonly Outgoing[], all: Uint8Array): void {
    const wanted = outgoing.filter((one) => wants(reader.asked, one))
    reader.push(wanted.length === outgoing.length ? all : join(wanted.map(({ bytes }) => bytes)))
    if (reader.unsent() > mostUnsent) reader.end() // it reconnects by itself, with its position
    if (reader.isGone()) atHead.delete(reader)
  }

  const rounds = openRounds(() => sendNew().catch(failed))
  const unwatch = store.onChange(rounds.ring)
  return {
    head,
    async add(reader) {
      for (let at = reader.from; !reader.isGone(); await breathe()) {
        // No await between this check and joining, or messages sent in between would be missed.
        if (!known || hasReached(at, known)) return void atHead.add(reader)
        const portion = await readOn(store, at, known)
        for (const one of portion.outgoing.filter((outgoing) => wants(reader.asked, outgoing))) {
          reader.push(one.bytes)
          await reader.room()
        }
        at = portion.at
      }
    },
    beat() {
      for (const reader of atHead) if (known) reader.push(encodeHeartbeat(printCursor(known)))
    },
    close() {
      unwatch()
      rounds.close()
    },
  }
}

// A write is noticed before it can be read, so reading waits a little; and few large batches cost less than many small ones.
const SOON_MS = 10
const AT_MOST_EVERY_MS = 50

/** One at a time, some time after the bell, and not too often. */
function openRounds(round: () => Promise<void>): { ring(): void; close(): void } {
  let [isGoing, isRung, isClosed] = [false, false, false]
  let [last, timer] = [-Infinity, undefined as NodeJS.Timeout | undefined]

  async function go(): Promise<void> {
    timer = undefined
    last = performance.now()
    isGoing = true
    isRung = false
    await round()
    isGoing = false
    if (isRung) ring()
  }

  function ring(): void {
    isRung = true
    if (isGoing || isClosed) return
    timer ??= setTimeout(() => void go(), Math.max(SOON_MS, last + AT_MOST_EVERY_MS - performance.now()))
  }

  return {
    ring,
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
