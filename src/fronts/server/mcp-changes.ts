/** Notifies clients of changed resources, whoever changed them. */
import {
  InMemoryServerEventBus,
  type Server,
  type ServerEvent,
  type ServerEventBus,
} from '@modelcontextprotocol/server'
import type { Heads, Store } from '../../host/store.ts'
import { oneByOne } from '../../operations/one-by-one.ts'
import type { Context } from '../../operations/operation.ts'
import { BOARD } from './mcp-resources.ts'

type Tell = (event: ServerEvent) => void

/** Starts now. Returns how to stop. */
function watchResources({ store, note }: Pick<Context, 'store' | 'note'>, tell: Tell): () => void {
  const source = store()
  let from: Heads | undefined
  let isOver = false
  const looks = oneByOne(
    async () => {
      from ??= await source.heads()
      if (!isOver) from = await tellSince(source, from, tell)
    },
    (cause) => {
      // A Postgres store may be closed during the last query.
      if (!isOver) note(String(cause instanceof Error ? cause.stack : cause))
    },
  )
  const unwatch = source.onChange(looks.wake)
  looks.wake()
  return () => {
    isOver = true
    unwatch()
  }
}

/** Notifies once per resource, however often it changed. */
async function tellSince(store: Store, from: Heads, tell: Tell): Promise<Heads> {
  const [events, changes, begun] = await Promise.all([
    store.events(from.events),
    store.board.changes(from.board),
    store.newLoops(from.loops),
  ])
  const uris = new Set(events.map(({ loop }) => `ralph://loop/${loop}`))
  let isListChanged = begun.length > 0
  for (const { change } of changes) {
    if (change.kind === 'task') uris.add(`ralph://task/${change.task.id}`)
    if (change.kind === 'task-removed' || (change.kind === 'task' && change.task.version === 1)) isListChanged = true
  }
  if (uris.size > 0 || isListChanged) uris.add(BOARD)
  for (const uri of uris) tell({ kind: 'resource_updated', uri })
  if (isListChanged) tell({ kind: 'resources_list_changed' })
  const next = {
    ...from,
    events: events.at(-1)?.seq ?? from.events,
    board: changes.at(-1)?.seq ?? from.board,
    loops: begun.at(-1)?.seq ?? from.loops,
  }
  // They come in batches.
  return uris.size > 0 ? tellSince(store, next, tell) : next
}

/** Watches as long as there are listeners. */
export function changesBus(context: Context): ServerEventBus {
  const bus = new InMemoryServerEventBus()
  let stop: (() => void) | undefined
  return {
    publish: (event) => bus.publish(event),
    subscribe(listener) {
      const leave = bus.subscribe(listener)
      stop ??= watchResources(context, (event) => bus.publish(event))
      return () => {
        leave()
        if (bus.listenerCount > 0) return
        stop?.()
        stop = undefined
      }
    },
  }
}

/** For a persistent connection. In the older protocol a client subscribes by name; in the newer one the library keeps track. */
export function tellConnection(server: Server, context: Context, era: 'legacy' | 'modern'): void {
  const wanted = new Set<string>()
  if (era === 'legacy') {
    server.setRequestHandler('resources/subscribe', ({ params }) => {
      wanted.add(params.uri)
      return {}
    })
    server.setRequestHandler('resources/unsubscribe', ({ params }) => {
      wanted.delete(params.uri)
      return {}
    })
  }
  const hears = (uri: string) => era === 'modern' || wanted.has(uri)
  const send = async (event: ServerEvent) => {
    if (event.kind === 'resources_list_changed') await server.sendResourceListChanged()
    if (event.kind === 'resource_updated' && hears(event.uri)) await server.sendResourceUpdated({ uri: event.uri })
  }
  // The client has gone.
  server.onclose = watchResources(context, (event) => void send(event).catch(() => {}))
}
