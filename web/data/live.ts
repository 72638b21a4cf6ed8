/** Passes messages of the stream on to the queries, and shows whether it is connected. */
import { type Signal, signal } from '@preact/signals'
import { type ErrorCode, type LiveItem, RalphError } from '../../src/fronts/server/client.ts'
import { hear } from './query.ts'
import { shareLive } from './shared-live.ts'
import type { LiveMessage } from './source.ts'

export type Connection =
  | { kind: 'connecting' }
  | { kind: 'live' }
  | { kind: 'lost'; since: number; retryAt: number; why: string }
  | { kind: 'refused'; code: ErrorCode; message: string }

export const connection: Signal<Connection> = signal({ kind: 'connecting' })

type Listener = (message: LiveMessage) => void
const listeners = new Set<Listener>()

/** Returns a function that stops it. */
export function onMessage(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

let running: AbortController | undefined

/** An interrupted stream resumes where it stopped; everything is read again anyway. */
export function startLive(server: { url: string; token: string }): void {
  if (running) lost('it is opened again', 0) // so that what was missed is read again
  running?.abort()
  running = new AbortController()
  void follow(server, running.signal)
}

async function follow(server: { url: string; token: string }, signal: AbortSignal): Promise<void> {
  try {
    await shareLive({ server, signal, hear: take })
  } catch (cause) {
    if (signal.aborted) return
    const { code, message } = cause instanceof RalphError ? cause : { code: 'usage' as const, message: String(cause) }
    connection.value = { kind: 'refused', code, message }
  }
}

function take(item: LiveItem): void {
  if (item.kind === 'connected') connected()
  if (item.kind === 'lost') lost(item.why, item.retryMs)
  if (item.kind === 'message') tell(item.message)
}

function connected(): void {
  const wasLost = connection.peek().kind === 'lost'
  connection.value = { kind: 'live' }
  if (wasLost) hear({ kind: 'back' })
}

function lost(why: string, retryMs: number): void {
  const before = connection.peek()
  const since = before.kind === 'lost' ? before.since : Date.now()
  connection.value = { kind: 'lost', since, retryAt: Date.now() + retryMs, why }
}

function tell(message: LiveMessage): void {
  if (message.type === 'hello' && message.data.reset) hear({ kind: 'back' })
  hear({ kind: 'message', message })
  for (const listener of listeners) listener(message)
}

/** After sleep a laptop still believes in its dead connection: check at once instead of waiting for the silence to be noticed. */
export function watchSleep(restart: () => void): void {
  let last = Date.now()
  setInterval(() => {
    const slept = Date.now() - last > (document.hidden ? SLEPT_HIDDEN_MS : SLEPT_MS)
    last = Date.now()
    if (slept) restart()
  }, 5_000)
  addEventListener('online', restart)
}

const SLEPT_MS = 30_000
/** Browsers run timers of a hidden tab only once a minute. */
const SLEPT_HIDDEN_MS = 90_000
