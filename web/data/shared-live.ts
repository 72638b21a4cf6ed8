/**
 * One stream for all tabs of a browser: the tab that holds the lock reads it and passes on what it hears. A browser opens at
 * most six connections to a server, so a stream in every tab would leave the sixth tab without an answer.
 */
import { type LiveItem, readLive } from '../../src/fronts/server/client.ts'

type Shared = { server: { url: string; token: string }; hear: (item: LiveItem) => void; signal: AbortSignal }

const NAME = 'ralph-live'
const TOPICS = ['loops', 'board', 'panes'] as const
/** Between two questions whether the tab that reads is still awake, and how long it may take to answer. */
const ASK_MS = 15_000
const ANSWER_MS = 3_000

/** Ends when `signal` fires; throws what the server refuses. */
export async function shareLive({ server, hear, signal }: Shared): Promise<void> {
  const read = async (tell: (item: LiveItem) => void, until: AbortSignal) => {
    for await (const item of readLive({ ...server, topics: TOPICS, signal: until })) tell(item)
  }
  // Browsers have no locks on pages that came over an unprotected line from another machine.
  if (!navigator.locks) return read(hear, signal)
  const others = openChannel(hear, signal)
  for (let steal = false; !signal.aborted; ) {
    const reading = new AbortController()
    const asleep = others.watch()
    const waiting = AbortSignal.any([signal, asleep.signal])
    try {
      await navigator.locks.request(NAME, steal ? { steal } : { signal: waiting }, async () => {
        asleep.end()
        others.lead()
        await read(others.tell, AbortSignal.any([signal, reading.signal]))
      })
      return
    } catch (cause) {
      // Either nobody has read for a while, or another tab thinks so of this one.
      if (!(cause instanceof DOMException && cause.name === 'AbortError')) {
        others.close() // what the other tabs tell is no news after a refusal
        throw cause
      }
      steal = asleep.signal.aborted
    } finally {
      reading.abort()
      asleep.end()
      others.follow()
    }
  }
}

type Told = LiveItem | { kind: 'who' }

function openChannel(hear: (item: LiveItem) => void, signal: AbortSignal) {
  const channel = new BroadcastChannel(NAME)
  let isClosed = false
  let leads = false
  let heardAt = 0
  let now: LiveItem | undefined
  channel.onmessage = ({ data }: MessageEvent<Told>) => {
    if (data.kind === 'who') {
      if (leads) channel.postMessage(now ?? { kind: 'lost', why: 'it is being opened', retryMs: 0 })
      return
    }
    heardAt = performance.now()
    hear(data)
  }
  const ask = () => isClosed || channel.postMessage({ kind: 'who' })
  const close = () => {
    isClosed = true
    channel.close()
  }
  signal.addEventListener('abort', close)
  ask()
  return {
    close,
    lead() {
      leads = true
      // What was told between the last reader and this one, nobody has heard: all read it again.
      const gap: LiveItem = { kind: 'lost', why: 'another tab has read until now', retryMs: 0 }
      channel.postMessage(gap)
      if (heardAt > 0) hear(gap)
    },
    follow() {
      leads = false
      now = undefined
      ask()
    },
    tell(item: LiveItem) {
      if (item.kind !== 'message') now = item
      channel.postMessage(item)
      hear(item)
    },
    /** Fires when the tab that reads does not answer: browsers put tabs to sleep that nobody looks at. */
    watch() {
      const asleep = new AbortController()
      let patience: ReturnType<typeof setTimeout> | undefined
      const look = () => {
        if (document.hidden) return
        const asked = performance.now()
        ask()
        clearTimeout(patience)
        patience = setTimeout(() => heardAt < asked && asleep.abort(), ANSWER_MS)
      }
      const timer = setInterval(look, ASK_MS)
      document.addEventListener('visibilitychange', look)
      return {
        signal: asleep.signal,
        end() {
          clearInterval(timer)
          clearTimeout(patience)
          document.removeEventListener('visibilitychange', look)
        },
      }
    },
  }
}
