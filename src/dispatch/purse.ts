/** What the agents of a crew spend together since their dispatcher began, against the limit for all of them. */
import type { Loop } from '../engine/loop.ts'

export type Purse = {
  /** Every loop before it is driven, and whenever it has moved. */
  saw(loop: Loop): void
  isSpent(): boolean
}

export function openPurse(mostUsd: number): Purse {
  const spent = new Map<string, { before: number; now: number }>()
  return {
    saw({ id, tally: { costUsd } }) {
      spent.set(id, { before: spent.get(id)?.before ?? costUsd, now: costUsd })
    },
    isSpent: () => [...spent.values()].reduce((sum, { before, now }) => sum + now - before, 0) >= mostUsd,
  }
}
