/** One client of the live stream: what it wants, how far it is, and what is pending. */
import type { Heads } from '../../host/store.ts'
import type { Asked } from './live-asked.ts'
import type { Outgoing } from './live-read.ts'

export type Reader = {
  asked: Asked
  /** Where it continues. */
  from: Heads
  stream: ReadableStream<Uint8Array>
  isGone(): boolean
  /** Pending bytes that it has not taken yet. */
  unsent(): number
  push(bytes: Uint8Array): void
  /** Resolves when it has taken nearly everything, or has left. */
  room(): Promise<void>
  /** Ends its stream; drops what it has not taken yet. */
  end(): void
}

/** `stallMs`: a reader that takes nothing for this long while its buffer is full is cut off. `gone`: nobody is reading any longer. */
type Opening = Pick<Reader, 'asked' | 'from'> & { stallMs: number; gone: () => void }

const ENOUGH = 1 << 16

export function openReader({ asked, from, stallMs, gone }: Opening): Reader {
  const queue = openQueue()
  const waiting = openWaiting()
  let isGone = false
  let isHungry = false
  let controller: ReadableStreamDefaultController<Uint8Array>

  const feed = () => {
    if (!isHungry || queue.size() === 0) return
    isHungry = false
    controller.enqueue(queue.take())
    waiting.wake()
  }
  const leave = () => {
    isGone = true
    queue.take()
    waiting.wake()
    gone()
  }

  const end = () => {
    if (isGone) return
    leave()
    controller.close()
  }

  const stream = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given
      },
      pull() {
        isHungry = true
        feed()
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  )
  return {
    asked,
    from,
    stream,
    isGone: () => isGone,
    unsent: queue.size,
    push(bytes) {
      if (isGone || bytes.length === 0) return
      queue.add(bytes)
      feed()
    },
    async room() {
      if (isGone || queue.size() <= ENOUGH) return
      const stalled = setTimeout(end, stallMs) // it reconnects by itself, with its position
      await waiting.wait()
      clearTimeout(stalled)
    },
    end,
  }
}

function openWaiting(): { wait(): Promise<void>; wake(): void } {
  const waiting: (() => void)[] = []
  return {
    wait: () => new Promise((go) => void waiting.push(go)),
    wake() {
      for (const go of waiting.splice(0)) go()
    },
  }
}

/** Our own queue: a stream's queue could not be discarded, and would be kept for a reader that never comes back. */
function openQueue(): { add(bytes: Uint8Array): void; take(): Uint8Array; size(): number } {
  let parts: Uint8Array[] = []
  let size = 0
  return {
    size: () => size,
    add(bytes) {
      parts.push(bytes)
      size += bytes.length
    },
    take() {
      const all = join(parts)
      parts = []
      size = 0
      return all
    },
  }
}

export function wants({ topics, loop }: Asked, outgoing: Outgoing): boolean {
  return topics.has(outgoing.topic) && (loop === undefined || outgoing.loop === loop)
}

export function join(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts
  return parts.length === 1 && only ? only : Buffer.concat(parts)
}
