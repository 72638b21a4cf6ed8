/** Notifies listeners of changes at once, from whatever process they come; a slow poll backs it up. */
import type { Client } from 'pg'
import { type Address, openClient, schemaOf } from './connect.ts'
import { type Pace, paceFor } from './pace.ts'

export type Listening = {
  onChange(listener: () => void): () => void
  /** How many tasks can run at once: the more, the less often each worker looks. */
  crowd(slots: number): void
  close(): Promise<void>
}

/**
 * One connection for all listeners here. `first`: what is done when anything may have changed, before they are
 * notified.
 */
export function openListening(address: Address, first: () => void): Listening {
  const listeners = new Set<() => void>()
  let pace = paceFor(0)
  const changed = () => {
    for (const each of [first, ...listeners]) each()
  }
  let channel: Channel | undefined
  const stop = async () => {
    const old = channel
    channel = undefined
    await old?.close()
  }
  return {
    onChange(listener) {
      const own = () => listener() // the same function may listen twice
      channel ??= openChannel(address, changed, () => pace)
      listeners.add(own)
      return () => {
        if (listeners.delete(own) && listeners.size === 0) void stop()
      }
    },
    crowd(slots) {
      pace = paceFor(slots)
    },
    async close() {
      listeners.clear()
      await stop()
    },
  }
}

type Channel = { close(): Promise<void> }

/** A broken connection is reopened with the next poll. Changes that come together are reported once. */
function openChannel(address: Address, changed: () => void, pace: () => Pace): Channel {
  let waking: NodeJS.Timeout | undefined
  let client: Client | undefined
  let isClosed = false
  const wake = () => {
    waking ??= setTimeout(() => {
      waking = undefined
      changed()
    }, pace().togetherMs)
  }
  const listen = () => {
    if (client || isClosed) return
    const mine = openClient(address)
    client = mine
    const gone = () => {
      if (client === mine) client = undefined
    }
    mine.on('notification', wake).on('error', gone).on('end', gone)
    mine
      .connect()
      .then(() => mine.query(`LISTEN ${schemaOf(address)}`))
      .then(wake)
      .catch(() => {
        gone()
        void mine.end().catch(() => {}) // it was never opened
      })
  }
  let poll: NodeJS.Timeout
  const pollLater = () => {
    poll = setTimeout(() => {
      listen()
      wake()
      pollLater()
    }, pace().pollMs).unref()
  }
  pollLater()
  listen()
  return {
    async close() {
      isClosed = true
      clearTimeout(poll)
      clearTimeout(waking)
      await client?.end().catch(() => {}) // it is already closed
    },
  }
}
