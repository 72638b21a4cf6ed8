/** A reader's position in the live stream, as a short string. */
import { RalphError } from '../../error.ts'
import type { Heads } from '../../host/store.ts'

export function printCursor({ events, board, panes, loops }: Heads): string {
  return `${events}.${board}.${panes}.${loops}`
}

export function parseCursor(text: string): Heads {
  const [, events, board, panes, loops] = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/.exec(text) ?? []
  if (loops === undefined)
    throw new RalphError(
      'input-invalid',
      `"${text.slice(0, 100)}" is not a position in the live stream. Use the id of an earlier message, or omit it.`,
      { field: 'after' },
    )
  return { events: Number(events), board: Number(board), panes: Number(panes), loops: Number(loops) }
}

/** Whether nothing up to `other` is missing. */
export function hasReached(at: Heads, other: Heads): boolean {
  return at.events >= other.events && at.board >= other.board && at.panes >= other.panes && at.loops >= other.loops
}
