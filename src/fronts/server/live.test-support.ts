/** A server with only the live stream, on a real socket, over a store in its own folder. */
import { serve } from '@hono/node-server'
import { onTestFinished } from 'vitest'
import { isRalphError } from '../../error.ts'
import { eventually, source, startScript, temporaryFolder } from '../../host/place.test-support.ts'
import { openStoreOf } from '../../host/postgres/postgres.test-support.ts'
import type { Store } from '../../host/store.ts'
import { type Live, type LiveOptions, openLive } from './live.ts'
import { type LiveItem, type ReadLive, readLive } from './live-client.ts'
import { printCursor } from './live-cursor.ts'
import type { LiveMessage } from './live-wire.ts'

export type LivePlace = {
  home: string
  store: Store
  live: Live
  url: string
  /** The messages of a stream, until `enough` says so. */
  read(asked: Partial<ReadLive>, enough: (messages: Seen[]) => boolean): Promise<Seen[]>
  /** The current cursor, once everything written has been read. */
  now(): Promise<string>
  /** Another process with its own `store`, and `save` to move a loop that it has a lease on. */
  start(code: string): ReturnType<typeof startScript>
}

export type Seen = { cursor: string; message: LiveMessage }

export const BEGINNING = '0.0.0.0'

export async function openLivePlace(options: LiveOptions = {}): Promise<LivePlace> {
  const home = temporaryFolder()
  const { store, elsewhere } = openStoreOf(home)
  const live = openLive({ store: () => store, now: Date.now }, options)
  const answer = (request: Request) =>
    live.answer(request).catch((cause) => {
      if (!isRalphError(cause)) throw cause
      return Response.json({ error: { code: cause.code, message: cause.message, help: '' } }, { status: 400 })
    })
  const server = serve({ fetch: answer, hostname: '127.0.0.1', port: 0 })
  await new Promise((ready) => server.once('listening', ready))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.')
  const url = `http://127.0.0.1:${address.port}`
  onTestFinished(async () => {
    live.close()
    await new Promise((closed) => server.close(closed))
    await store.close()
  })
  const read: LivePlace['read'] = (asked, enough) => readUntil({ url, token: '', ...asked }, enough)
  return {
    home,
    store,
    live,
    url,
    read,
    now: () =>
      eventually(async () => {
        const heads = printCursor(await store.heads())
        const [hello] = await read({}, ({ length }) => length > 0)
        return hello?.cursor === heads ? heads : undefined
      }),
    start: (code) => startScript(`${WRITER}const store = ${elsewhere}\n${code}`),
  }
}

const WRITER = `const { step } = await import(${source('engine/step.ts')})
  const { START, specOf, works } = await import(${source('engine/stories.test-support.ts')})
  const { startLoop } = await import(${source('engine/loop.ts')})
  const loopOf = (id) => startLoop(id, specOf(), { at: START, tree: 'tree 0' })
  const save = async (lease) => {
    const loop = await store.load(lease.loop)
    const fact = works(loop)
    await store.save(lease, step(loop, fact), fact)
  }
`

async function readUntil(asked: ReadLive, enough: (messages: Seen[]) => boolean): Promise<Seen[]> {
  const seen: Seen[] = []
  for await (const item of readLive(asked)) if (sees(item, seen) && enough(seen)) break
  return seen
}

function sees(item: LiveItem, seen: Seen[]): boolean {
  if (item.kind !== 'message') return false
  return seen.push({ cursor: item.cursor, message: item.message }) > 0
}

/** "loop-event 3" and so on, without greetings. */
export function namesOf(seen: readonly Seen[]): string[] {
  return seen.flatMap(({ message: { type, seq } }) => (type === 'hello' ? [] : [`${type} ${seq}`]))
}

/** Whether the event with this number was seen. */
export function upToEvent(seq: number): (seen: Seen[]) => boolean {
  return (seen) => seen.some(({ message }) => message.type === 'loop-event' && message.seq >= seq)
}

/** A connection that keeps breaking after some bytes. */
export function breaking(lengths: () => number): typeof fetch {
  return async (...given) => {
    const response = await fetch(...given)
    let left = lengths()
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        if (bytes.length >= left) {
          controller.enqueue(bytes.subarray(0, left))
          controller.error(new Error('cut'))
        } else controller.enqueue(bytes)
        left -= bytes.length
      },
    })
    return new Response(response.body?.pipeThrough(cut), { status: response.status })
  }
}
