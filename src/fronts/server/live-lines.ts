/** Takes a stream of server-sent events apart, as far as our server uses the format. */

/** `data` is absent where only the position moved. */
export type ServerEvent = { id?: string; data?: string }

/** An event that is only half there when the stream ends is left out. `heard`: something came. */
export async function* readEvents(stream: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  const reader = stream.getReader()
  let rest: string[] = []
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      heard()
      const text = decoder.decode(part.value, { stream: true })
      // The end of an event may lie on both sides of a cut.
      const joined = `${rest.at(-1)?.slice(-1) ?? ''}${text}`
      rest.push(text)
      if (!joined.includes('\n\n')) continue
      const events = rest.join('').split('\n\n')
      rest = events.splice(-1)
      yield* events.map(toEvent)
    }
  } finally {
    // Whoever stops reading hangs up.
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
