/** What all agents together have spent since their dispatcher started, against their common limit. */
import type { Loop } from '../engine/loop.ts'

export type Purse = {
  /** A loop as it is now. What it had spent before it was first seen here does not count. */
  saw(loop: Pick<Loop, 'id' | 'tally'>): void
  isSpent(): boolean
}

export function openPurse(mostUsd: number): Purse {
  const loops = new Map<string, { before: number; costUsd: number }>()
  return {
    saw({ id, tally: { costUsd } }) {
      loops.set(id, { before: loops.get(id)?.before ?? costUsd, costUsd })
    },
    isSpent() {
      let spent = 0
      for (const { before, costUsd } of loops.values()) spent += costUsd - before
      return spent >= mostUsd
    },
  }
}
