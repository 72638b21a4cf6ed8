/** Parses a stream of server-sent events, as far as our server uses the format. */

/** `data` is absent when only the position moved. */
export type ServerEvent = { id?: string; data?: string }

/** Drops an event that is incomplete when the stream ends. `heard`: something arrived. */
export async function* readEvents(stream: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  const reader = stream.getReader()
  let rest: string[] = []
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      heard()
      const text = decoder.decode(part.value, { stream: true })
      // The end of an event may be split between chunks.
      const joined = `${rest.at(-1)?.slice(-1) ?? ''}${text}`
      rest.push(text)
      if (!joined.includes('\n\n')) continue
      const events = rest.join('').split('\n\n')
      rest = events.splice(-1)
      yield* events.map(toEvent)
    }
  } finally {
    // A reader that stops closes the connection.
    await reader.cancel().catch(() => {})
  }
}

function toEvent(text: string): ServerEvent {
  const event: ServerEvent = {}
  for (const line of text.split('\n')) {
    if (line.startsWith('id: ')) event.id = line.slice(4)
    if (line.startsWith('data: ')) event.data = line.slice(6)
  }
  return event
}
