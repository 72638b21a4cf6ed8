/** The next step to make an agent in its pane take a turn. Pure. */
import { isSame, type PaneFacts, type TurnMark } from './pane-facts.ts'

export type Act =
  /** It is busy with it, or does not accept input now. */
  | { kind: 'wait' }
  | { kind: 'start' }
  /** Its terminal was closed during the turn, or before. */
  | { kind: 'closed' }
  /** The user has given it something else to do. */
  | { kind: 'typed' }
  | { kind: 'send' }
  /** It was sent, but has not arrived yet. */
  | { kind: 'sent' }
  | { kind: 'over'; outcome: NonNullable<PaneFacts['over']>['outcome'] }

/** `dir`: the folder it has to be in. */
export function whatNow(facts: PaneFacts, mark: TurnMark, dir: string): Act {
  const { over, at, sent, ended, asks, up, typed } = facts
  if (over && isSame(over.mark, mark)) return { kind: 'over', outcome: over.outcome }
  if (ended?.closed) return { kind: 'closed' }
  if (ended || facts.dir !== dir) return { kind: 'start' }
  if (at || asks !== undefined) return { kind: 'wait' }
  // It comes after what the user typed, since the client takes one prompt at a time.
  if (sent && isSame(sent.mark, mark)) return { kind: sent.stalled ? 'wait' : 'sent' }
  if (typed !== undefined) return { kind: 'typed' }
  return { kind: up ? 'send' : 'wait' }
}
