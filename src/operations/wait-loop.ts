/** Waits for something to happen to a loop, briefly enough for the timeout of any client. */
import { ended, type Fact, type Loop, type Status, statusOf, type Verdict } from '../engine/loop.ts'
import { cutTo, oneLine } from '../formats/one-line.ts'
import type { Store, StoredEvent } from '../host/store.ts'
import { attendanceOf } from './attendance.ts'
import { findLoop } from './find-loop.ts'
import type { Context, Operation } from './operation.ts'
import { standingOf } from './standing.ts'

/** `after`: `seq` of an earlier answer. Default: only what happens from now on. */
export type Waiting = { loop: string; after?: number; seconds?: number }

export type Waited = {
  loop: string
  status: Status
  /** Its state in one sentence. */
  sentence: string
  /** Nothing happened in that time, and it is still running: call again with `after`. */
  stillRunning: boolean
  /** No process is running it: it continues when it is resumed. */
  unattended: boolean
  /** Pass this as `after` next time. */
  seq: number
  events: { seq: number; at: string; kind: Fact['kind']; words: string }[]
}

export const LONGEST_WAIT_SECONDS = 25

/** The most events returned; the current state matters more. */
const MOST_EVENTS = 20

export const waitLoop: Operation<Waiting, Waited> = {
  name: 'wait_loop',
  effect: 'read',
  summary: 'Waits up to 25 seconds for something to happen to a loop.',
  agent: { description: 'While stillRunning, call it again with `after` set to the `seq` of this answer.' },
  report: true,
  async run(context, { loop: name, after, seconds = LONGEST_WAIT_SECONDS }) {
    const store = context.store()
    const id = await findLoop(context, name)
    const known = after ?? (await store.heads()).events
    const until = context.now() + seconds * 1_000
    const { loop, events } = await look(context, { id, known, until })
    const status = statusOf(loop)
    return {
      loop: id,
      status,
      sentence: standingOf(loop).sentence,
      stillRunning: events.length === 0 && continuesAlone(loop),
      unattended: (await attendanceOf(context, { id, status })).unattended,
      seq: events.at(-1)?.seq ?? known,
      events: events.slice(-MOST_EVENTS).map(({ seq, at, fact }) => ({
        seq,
        at: new Date(at).toISOString(),
        kind: fact.kind,
        words: cutTo(oneLine(factWords(fact)), 200),
      })),
    }
  },
}

type Looked = { loop: Loop; events: StoredEvent[] }

/** Checks again whenever the database may have changed, until there is something to report or the time is up. */
async function look(
  context: Context,
  { id, known, until }: { id: string; known: number; until: number },
): Promise<Looked> {
  const store = context.store()
  const find = async (): Promise<Looked> => ({ loop: await store.load(id), events: await store.events(known, id) })
  const isNews = ({ loop, events }: Looked) => events.length > 0 || !continuesAlone(loop)
  const changed = changes(store)
  try {
    let found = await find()
    while (!isNews(found)) {
      const left = until - context.now()
      if (left <= 0 || context.signal?.aborted) break
      context.progress?.(standingOf(found.loop).sentence)
      await changed.next(Math.min(left, PROGRESS_MS), context.signal)
      found = await find()
    }
    return found
  } finally {
    changed.stop()
  }
}

/** Clients that see progress wait longer. */
const PROGRESS_MS = 5_000

/** Misses nothing between two calls of `next`. */
function changes(store: Store): { next(mostMs: number, signal?: AbortSignal): Promise<void>; stop(): void } {
  let isNew = false
  let wake = () => {}
  const stop = store.onChange(() => {
    isNew = true
    wake()
  })
  return {
    stop,
    async next(mostMs, signal) {
      if (!isNew && !signal?.aborted)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, mostMs)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
          signal?.addEventListener('abort', wake, { once: true })
        })
      isNew = false
    },
  }
}

/** Whether something will happen to it without a person. */
function continuesAlone(loop: Loop): boolean {
  const { next } = loop
  return !ended(loop) && !(next.kind === 'wait' && (next.why === 'person' || next.why === 'paused'))
}

function factWords(fact: Fact): string {
  switch (fact.kind) {
    case 'turned': {
      const { end, claim, words } = fact.turn
      const said = claim.kind === 'none' ? '' : ` It claims to be done${claim.stage ? ` with ${claim.stage}` : ''}.`
      return `The agent's turn ended (${end}).${said} ${words}`
    }
    case 'checked':
      return fact.verdicts.map(verdictWords).join(', ') || 'There was nothing to check.'
    case 'proved':
      return `Experiment ${fact.run}: ${fact.why ?? fact.ran.map(verdictWords).join(', ')}`
    case 'told':
      return fact.order.kind === 'say' ? `${fact.by} said: ${fact.order.words}` : `${fact.by}: ${fact.order.kind}`
    case 'restored':
      return fact.trouble ?? 'The files were rolled back.'
    case 'lost':
      return 'It was interrupted; that does not count as an iteration.'
    case 'woke':
    case 'asked':
    case 'moved':
    case 'adopted':
      return ''
  }
}

function verdictWords({ check, result }: Pick<Verdict, 'check' | 'result'>): string {
  return `${check}: ${result}`
}
