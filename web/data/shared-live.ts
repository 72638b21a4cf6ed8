/**
 * One stream for all tabs of a browser: the tab that holds the lock reads it and forwards the messages. A browser opens at
 * most six connections to a server, so with a stream per tab the sixth tab would get no answers.
 */
import { type LiveItem, readLive } from '../../src/fronts/server/client.ts'

type Shared = { server: { url: string; token: string }; hear: (item: LiveItem) => void; signal: AbortSignal }

const NAME = 'ralph-live'
const TOPICS = ['loops', 'board', 'panes'] as const
/** How often the tabs ask whether the reading tab is awake, and how long it may take to answer. */
const ASK_MS = 15_000
const ANSWER_MS = 3_000

/** Ends when `signal` fires; throws the server's refusals. */
export async function shareLive({ server, hear, signal }: Shared): Promise<void> {
  const read = async (tell: (item: LiveItem) => void, until: AbortSignal) => {
    for await (const item of readLive({ ...server, topics: TOPICS, signal: until })) tell(item)
  }
  // Browsers offer no locks to pages loaded over plain HTTP from another machine.
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
      // Either no tab has been reading for a while, or another tab thinks this one has not.
      if (!(cause instanceof DOMException && cause.name === 'AbortError')) {
        others.close() // messages of other tabs do not matter after a refusal
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
      // Messages between the last reader and this one were missed: every tab reads everything again.
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
    /** Fires when the reading tab does not answer: browsers put hidden tabs to sleep. */
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
