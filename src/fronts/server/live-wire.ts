/** The wire format of the live stream. Types only: clients and the page also use them. */
import type { Fact, Next, OwnerKind, Status } from '../../engine/loop.ts'
import type { BoardChange } from '../../host/store.ts'
import type { TurnEntry } from '../../host/transcript.ts'

/** `loops`: `loop-start` and `loop-event`. */
export type LiveTopic = 'loops' | 'board' | 'panes' | 'log'

/**
 * One message of `GET /api/live`. `seq` counts the messages of one type, in order; the `id` of a message holds the position
 * in all topics, and a stream continues exactly after it. Texts above 4,096 characters are truncated; `cut` marks that.
 */
export type LiveMessage = {
  seq: number
  at: number
  cut?: true
} & (
  | { type: 'hello'; data: LiveHello }
  | { type: 'loop-start'; loop: string; data: LiveStart }
  | { type: 'loop-event'; loop: string; data: { n: number; fact: Fact; next: Next; status: Status } }
  | { type: 'task-change'; loop?: string; data: BoardChange['change'] }
  | { type: 'pane-change'; loop?: string; data: { crew: string; name: string; change: unknown } }
  | { type: 'log'; loop: string; data: LiveLog }
)

/**
 * The first message of a stream. `log`: where the logs start, as `LOOP:ITERATION:OFFSET`. `reset`: the given position is
 * not from this database; load everything again.
 */
export type LiveHello = { cursor: string; log: string[]; reset?: true }

export type LiveStart = { dir: string; agent: string; prompt: string; owner: OwnerKind; status: Status }

/** Lines of a transcript from byte `offset` to `next`. `LOOP:ITERATION:NEXT` continues after them. */
export type LiveLog = { iteration: number; offset: number; next: number; entries: TurnEntry[] }
