/** Reads what is new in the store between two positions, as messages. */
import { statusOf } from '../../engine/loop.ts'
import type { BoardChange, CreatedLoop, Heads, PaneChange, Store, StoredEvent } from '../../host/store.ts'
import { printCursor } from './live-cursor.ts'
import { encode } from './live-encode.ts'
import type { LiveMessage, LiveTopic } from './live-wire.ts'

/** A message to send, as the same bytes for everybody. */
export type Outgoing = { topic: LiveTopic; loop?: string; bytes: Uint8Array }

/** One batch; `at` is the position after it. If that is not `upTo`, there is more. */
export async function readOn(store: Store, from: Heads, upTo: Heads): Promise<{ outgoing: Outgoing[]; at: Heads }> {
  const outgoing: Outgoing[] = []
  let at = from
  for (const { kind, topic, read } of SOURCES) {
    // A loop comes before its events.
    if (kind === 'events' && at.loops < upTo.loops) continue
    if (at[kind] >= upTo[kind]) continue
    const found = await read(store, at[kind])
    for (const message of found.filter(({ seq }) => seq <= upTo[kind])) {
      at = { ...at, [kind]: message.seq }
      const loop = 'loop' in message ? { loop: message.loop } : {}
      outgoing.push({ topic, ...loop, bytes: encode(message, printCursor(at)) })
    }
    // The last ones may have been removed, so the last one found may not be the last number.
    if (found.length === 0 || (found.at(-1)?.seq ?? 0) >= upTo[kind]) at = { ...at, [kind]: upTo[kind] }
  }
  return { outgoing, at }
}

type Source = {
  kind: keyof Heads
  topic: LiveTopic
  read(store: Store, after: number): Promise<LiveMessage[]>
}

const SOURCES: readonly Source[] = [
  { kind: 'loops', topic: 'loops', read: async (store, after) => (await store.newLoops(after)).map(toStart) },
  { kind: 'events', topic: 'loops', read: async (store, after) => (await store.events(after)).map(toEvent) },
  { kind: 'board', topic: 'board', read: async ({ board }, after) => (await board.changes(after)).map(toTaskChange) },
  { kind: 'panes', topic: 'panes', read: async ({ panes }, after) => (await panes.changes(after)).map(toPaneChange) },
]

function toStart({ seq, id, startedAt, dir, agent, prompt, owner, status }: CreatedLoop): LiveMessage {
  return { seq, at: startedAt, type: 'loop-start', loop: id, data: { dir, agent, prompt, owner, status } }
}

function toEvent({ seq, at, loop, n, fact, next }: StoredEvent): LiveMessage {
  return { seq, at, type: 'loop-event', loop, data: { n, fact, next, status: statusOf({ next }) } }
}

function toTaskChange({ seq, at, change }: BoardChange): LiveMessage {
  const loop = change.kind === 'task' && change.task.loop_id !== null ? { loop: change.task.loop_id } : {}
  return { seq, at, type: 'task-change', ...loop, data: change }
}

function toPaneChange({ seq, at, crew, name, change }: PaneChange): LiveMessage {
  const { loop } = (change ?? {}) as { loop?: unknown }
  return { seq, at, type: 'pane-change', ...(typeof loop === 'string' ? { loop } : {}), data: { crew, name, change } }
}
