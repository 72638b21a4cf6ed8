/** Reads a server's live stream and reconnects by itself where it was cut off. The page uses it too, so nothing from Node. */
import { type ErrorCode, RalphError } from '../../error.ts'
import { readEvents } from './live-lines.ts'
import type { LiveMessage, LiveTopic } from './live-wire.ts'

export type ReadLive = {
  /** The server's URL: `http://127.0.0.1:4444`. */
  url: string
  token: string
  /** Continues after this position. Absent: from now on. */
  after?: string
  topics?: readonly LiveTopic[]
  loop?: string
  /** `LOOP`, `LOOP:ITERATION` or `LOOP:ITERATION:OFFSET`. */
  log?: readonly string[]
  signal?: AbortSignal
  fetch?: typeof fetch
}

/** `cursor`: where to continue once this message has been handled. `lost`: retried after `retryMs`. */
export type LiveItem =
  | { kind: 'connected' }
  | { kind: 'lost'; why: string; retryMs: number }
  | { kind: 'message'; cursor: string; message: LiveMessage }

const FIRST_RETRY_MS = 250
const LONGEST_RETRY_MS = 5_000
/** The server sends something at once, and then every 15 seconds. */
const FIRST_SILENCE_MS = 10_000
const SILENCE_MS = 45_000

/** Ends when `signal` fires; throws when the server refuses. No message is lost or repeated. */
export async function* readLive({ after, log = [], signal, ...asked }: ReadLive): AsyncGenerator<LiveItem> {
  const place: Place = { cursor: after, logs: [...log] }
  for (let failures = 0; !signal?.aborted; failures += 1) {
    let why = 'the server ended the stream'
    const watch = openWatch(signal)
    try {
      const response = await connect(asked, place, watch.signal)
      for await (const { id, data } of readEvents(response, watch.heard)) {
        if (id !== undefined) place.cursor = id
        if (data === undefined) continue
        const message = JSON.parse(data) as LiveMessage
        if (message.type === 'hello') {
          failures = 0
          yield { kind: 'connected' }
        }
        moveLogs(place, message)
        yield { kind: 'message', cursor: place.cursor ?? '', message }
      }
    } catch (cause) {
      if (cause instanceof RalphError) throw cause
      why = cause instanceof Error ? cause.message : String(cause)
    } finally {
      watch.end()
    }
    if (signal?.aborted) return
    const retryMs = Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS)
    yield { kind: 'lost', why, retryMs }
    await pause(retryMs, signal)
  }
}

type Place = { cursor: string | undefined; logs: string[] }

async function connect(
  { url, token, topics, loop, fetch: ask = fetch }: Omit<ReadLive, 'after' | 'log' | 'signal'>,
  { cursor, logs }: Place,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const address = new URL('/api/live', url)
  if (topics) address.searchParams.set('topics', topics.join(','))
  if (loop !== undefined) address.searchParams.set('loop', loop)
  for (const place of logs) address.searchParams.append('log', place)
  const response = await ask(address, {
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'text/event-stream',
      ...(cursor === undefined ? {} : { 'last-event-id': cursor }),
    },
    signal,
  })
  if (response.ok && response.body) return response.body
  if (response.status >= 500) throw new Error(`the server answered ${response.status}`)
  throw await refusalOf(response)
}

/** An invalid request stays invalid, however often it is sent. */
async function refusalOf(response: Response): Promise<RalphError> {
  const { error } = (await response.json().catch(() => ({}))) as { error?: { code: ErrorCode; message: string } }
  return new RalphError(error?.code ?? 'usage', error?.message ?? `The server answered ${response.status}.`)
}

function moveLogs(place: Place, message: LiveMessage): void {
  if (message.type === 'hello') place.logs = [...message.data.log]
  if (message.type !== 'log') return
  const { iteration, offset, next } = message.data
  // Continues exactly where it was, or starts a later iteration.
  const before = place.logs.includes(`${message.loop}:${iteration}:${offset}`)
    ? `${message.loop}:${iteration}:${offset}`
    : lastBefore(place.logs, message.loop, iteration)
  const at = place.logs.indexOf(before)
  if (at >= 0) place.logs[at] = `${message.loop}:${iteration}:${next}`
}

function lastBefore(logs: readonly string[], loop: string | undefined, iteration: number): string {
  const earlier = logs.flatMap((text) => {
    const [name, number] = text.split(':')
    return name === loop && Number(number) < iteration ? [{ text, number: Number(number) }] : []
  })
  return earlier.sort((a, b) => b.number - a.number)[0]?.text ?? ''
}

type Watch = { signal: AbortSignal; heard(): void; end(): void }

/** Gives up on a connection that has gone silent. */
function openWatch(outer: AbortSignal | undefined): Watch {
  const silent = new AbortController()
  const begin = (ms: number) => setTimeout(() => silent.abort(new Error('the server went silent')), ms)
  let timer = begin(FIRST_SILENCE_MS)
  return {
    signal: outer ? AbortSignal.any([outer, silent.signal]) : silent.signal,
    heard() {
      clearTimeout(timer)
      timer = begin(SILENCE_MS)
    },
    end: () => clearTimeout(timer),
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(finish, ms)
    signal?.addEventListener('abort', finish)
    function finish(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', finish)
      done()
    }
  })
}
