/** What is to be done so that an agent in its pane takes a turn. Pure. */
import { isSame, type PaneFacts, type TurnMark } from './hear.ts'

export type Act =
  /** It is at it, or cannot be talked to now. */
  | { kind: 'wait' }
  | { kind: 'start' }
  /** Its terminal was taken away in the middle of it, or before. */
  | { kind: 'closed' }
  /** A person has given it something else to do. */
  | { kind: 'typed' }
  | { kind: 'send' }
  /** It was sent, but did not arrive yet. */
  | { kind: 'sent' }
  | { kind: 'over'; outcome: NonNullable<PaneFacts['over']>['outcome'] }

/** `dir`: where it has to be for that. */
export function whatNow(facts: PaneFacts, mark: TurnMark, dir: string): Act {
  const { over, at, sent, ended, asks, up, typed } = facts
  if (over && isSame(over.mark, mark)) return { kind: 'over', outcome: over.outcome }
  if (ended?.closed) return { kind: 'closed' }
  if (ended || facts.dir !== dir) return { kind: 'start' }
  if (at || asks !== undefined) return { kind: 'wait' }
  // It comes after what the person typed, as the client takes one prompt after the other.
  if (sent && isSame(sent.mark, mark)) return { kind: sent.stalled ? 'wait' : 'sent' }
  if (typed !== undefined) return { kind: 'typed' }
  return { kind: up ? 'send' : 'wait' }
}
