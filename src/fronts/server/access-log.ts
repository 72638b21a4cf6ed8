/** One line per request: when, what, status, duration. Never a body or a query. */
import { appendFileSync, renameSync, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'

export type AccessLog = {
  /** Writes its line when the request has ended. */
  follow(incoming: IncomingMessage, outgoing: ServerResponse): void
  write(text: string): void
}

/** `secret`: must not appear in any line. `also`: gets every line too. */
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
      // a full disk must not block requests
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
