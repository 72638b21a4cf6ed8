/**
 * Which iterations were refused although their checks pass, and why: what `ralph run` showed, recovered from the
 * events.
 */
import { type Loop, startLoop } from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import { refusalWords } from '../formats/proof-words.ts'
import type { StoredEvent } from '../host/store.ts'

export type Refusals = {
  see(event: Pick<StoredEvent, 'fact' | 'next'>): void
  of(iteration: number): string | undefined
}

/**
 * The events do not contain the loop's memory, so it is replayed. What was actually asked for next is known, and
 * overrides what today's rules would ask for.
 */
export function refusalsOf({ id, spec, tally }: Loop): Refusals {
  const found = new Map<number, string>()
  let loop = startLoop(id, spec, { at: tally.startedAt })
  return {
    see({ fact, next }) {
      const after = { ...step(loop, fact), next }
      const words = refusalWords(loop.tally, after)
      if (words !== undefined) found.set(loop.tally.iteration, words)
      loop = after
    },
    of: (iteration) => found.get(iteration),
  }
}
