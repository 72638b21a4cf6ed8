/** Encodes a message as a server-sent event, small enough for any reader. */
import type { LiveMessage } from './live-wire.ts'

const LONGEST_TEXT = 4_096
const LARGEST = 65_536

/** Without a cursor, the position of the stream stays what it was. */
export function encode(message: LiveMessage, cursor?: string): Uint8Array {
  const id = cursor === undefined ? '' : `id: ${cursor}\n`
  return new TextEncoder().encode(`${id}event: ${message.type}\ndata: ${toJson(message)}\n\n`)
}

/** Carries no data, but advances the position and keeps proxies from closing the connection. */
export function encodeHeartbeat(cursor: string): Uint8Array {
  return new TextEncoder().encode(`:\nid: ${cursor}\n\n`)
}

function toJson(message: LiveMessage): string {
  if (message.type === 'log') return JSON.stringify(message)
  let isCut = false
  const text = JSON.stringify(message, (_, value: unknown) => {
    if (typeof value !== 'string' || value.length <= LONGEST_TEXT) return value
    isCut = true
    return shortened(value)
  })
  if (text.length > LARGEST) return JSON.stringify(outlineOf(message))
  return isCut ? JSON.stringify({ ...(JSON.parse(text) as object), cut: true }) : text
}

export function shortened(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT).toWellFormed()}…`
}

/** What remains of many long texts: enough to know what to ask for. */
function outlineOf(message: LiveMessage): object {
  const { data, ...envelope } = message
  return {
    ...envelope,
    cut: true,
    data: Object.fromEntries(Object.entries(data).map(([name, value]) => [name, outline(value)])),
  }
}

function outline(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? shortened(value) : value
  return Object.fromEntries(
    Object.entries(value).filter(([, inner]) => typeof inner !== 'object' && String(inner).length <= 200),
  )
}
