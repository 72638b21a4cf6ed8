/** Reads the live stream of a server, and comes back by itself where it was cut. Also for the page: nothing of Node is used. */
import { type ErrorCode, RalphError } from '../../error.ts'
import { readEvents } from './live-lines.ts'
import type { LiveMessage, LiveTopic } from './live-wire.ts'

export type ReadLive = {
  /** Of the server: `http://127.0.0.1:4444`. */
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

/** `cursor`: what to continue after once this message has been dealt with. `lost`: it is tried again after `retryMs`. */
export type LiveItem =
  | { kind: 'connected' }
  | { kind: 'lost'; why: string; retryMs: number }
  | { kind: 'message'; cursor: string; message: LiveMessage }

const FIRST_RETRY_MS = 250
const LONGEST_RETRY_MS = 5_000
/** The server says something at once, and then every 15 seconds. */
const FIRST_SILENCE_MS = 10_000
const SILENCE_MS = 45_000

/** Ends when `signal` fires; throws what the server refuses. No message is lost, and none comes twice. */
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

/** What is wrong with the request stays wrong, however often it is sent. */
async function refusalOf(response: Response): Promise<RalphError> {
  const { error } = (await response.json().catch(() => ({}))) as { error?: { code: ErrorCode; message: string } }
  return new RalphError(error?.code ?? 'usage', error?.message ?? `The server answered ${response.status}.`)
}

function moveLogs(place: Place, message: LiveMessage): void {
  if (message.type === 'hello') place.logs = [...message.data.log]
  if (message.type !== 'log') return
  const { iteration, offset, next } = message.data
  // It goes on exactly where it was, or begins an iteration after the one where it was.
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

/** Gives up on a connection over which nothing comes any more. */
function openWatch(outer: AbortSignal | undefined): Watch {
  const silent = new AbortController()
  const begin = (ms: number) => setTimeout(() => silent.abort(new Error('nothing was heard of the server')), ms)
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
