/** One line a request: when, what, how it went, how long it took. Never what was sent or answered, and no query. */
import { appendFileSync, renameSync, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'

export type AccessLog = {
  /** Writes its line when it is over. */
  follow(incoming: IncomingMessage, outgoing: ServerResponse): void
  write(text: string): void
}

/** `secret`: what no line may hold, wherever it was put. `also`: who reads along. */
export type Logging = { home: string; secret: string; now: () => number; also?: (line: string) => void }

/** One older file of this size is kept. */
const MOST_BYTES = 5_000_000

export function openAccessLog({ home, secret, now, also }: Logging): AccessLog {
  const path = join(home, 'server.log')
  let bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const write = (text: string) => {
    const line = `${new Date(now()).toISOString()} ${text.replaceAll(secret, '***')}\n`
    also?.(line)
    try {
      if (bytes > MOST_BYTES) renameSync(path, `${path}.old`)
      bytes = bytes > MOST_BYTES ? line.length : bytes + line.length
      appendFileSync(path, line, { mode: 0o600 })
    } catch {
      // a full disk must not keep anybody from asking
    }
  }
  return {
    write,
    follow(incoming, outgoing) {
      const began = performance.now()
      const [target = ''] = (incoming.url ?? '').split(/[?#]/)
      outgoing.once('close', () =>
        write(`${incoming.method} ${target} ${outgoing.statusCode} ${Math.round(performance.now() - began)} ms`),
      )
    },
  }
}
