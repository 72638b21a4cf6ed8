/** What a client asks of the live stream: where to continue, which topics, which loop, which log. */
import { RalphError } from '../../error.ts'
import type { Heads, Store } from '../../host/store.ts'
import { parseCursor } from './live-cursor.ts'
import type { LiveTopic } from './live-wire.ts'

export type Asked = {
  /** Absent: from now on. */
  after?: Heads
  topics: ReadonlySet<LiveTopic>
  loop?: string
  logs: LogPlace[]
}

/** A byte offset in an iteration's transcript. */
export type LogPlace = { loop: string; iteration: number; offset: number }

const TOPICS: readonly LiveTopic[] = ['loops', 'board', 'panes', 'log']
export const LIVE_FIELDS: readonly string[] = ['after', 'topics', 'loop', 'log']

export async function readAsked({ url, headers }: Pick<Request, 'url' | 'headers'>, store: Store): Promise<Asked> {
  const { searchParams: query } = new URL(url)
  for (const name of query.keys())
    if (!LIVE_FIELDS.includes(name))
      throw invalid(name, `Unknown field: "${name}". Use one of: ${LIVE_FIELDS.join(', ')}.`)
  // A client that reconnects by itself sends the header with its original URL.
  const after = headers.get('last-event-id') || query.get('after')
  const loop = query.get('loop')
  return {
    ...(after ? { after: parseCursor(after) } : {}),
    topics: topicsOf(query.getAll('topics')),
    ...(loop ? { loop: await store.find(loop) } : {}),
    logs: await Promise.all(query.getAll('log').map((text) => placeOf(text, store))),
  }
}

function topicsOf(given: readonly string[]): ReadonlySet<LiveTopic> {
  const names = given.flatMap((text) => text.split(',')).filter(Boolean)
  const odd = names.find((name) => !TOPICS.some((topic) => topic === name))
  if (odd !== undefined) throw invalid('topics', `Unknown topic: "${odd}". Use one of: ${TOPICS.join(', ')}.`)
  return new Set(names.length === 0 ? TOPICS : TOPICS.filter((topic) => names.includes(topic)))
}

/** Without a number: the current iteration, or the last one. */
async function placeOf(text: string, store: Store): Promise<LogPlace> {
  const [, name, iteration, offset] = /^([^:]+)(?::([1-9]\d{0,8})(?::(\d{1,15}))?)?$/.exec(text) ?? []
  if (name === undefined)
    throw invalid(
      'log',
      `"${text.slice(0, 100)}" is not a position in a log. Use LOOP, LOOP:ITERATION or LOOP:ITERATION:OFFSET.`,
    )
  const loop = await store.find(name)
  if (iteration !== undefined) return { loop, iteration: Number(iteration), offset: Number(offset ?? 0) }
  return { loop, iteration: await lastIteration(store, loop), offset: 0 }
}

export function printPlace({ loop, iteration, offset }: LogPlace): string {
  return `${loop}:${iteration}:${offset}`
}

async function lastIteration(store: Store, id: string): Promise<number> {
  const loop = await store.load(id)
  return Math.max(1, loop.tally.iteration + (loop.next.kind === 'turn' ? 1 : 0))
}

function invalid(field: string, sentence: string): RalphError {
  return new RalphError('input-invalid', sentence, { field })
}
